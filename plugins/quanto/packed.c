/* SPDX-License-Identifier: Apache-2.0 */
/* Quanto has W = scale * code - shift for each group of inputs. A codec has zero points instead: shift / scale in f32,
 * so that a weight differs by a few units in the last place of its shift. */
#include "packed.h"

#include <math.h>

#include "graft/convert.h"

enum { LARGEST_GROUP = 128, GROUP_STEP = 32 };

/* From this ratio of shift to scale on, adding scale * code to a shift changes nothing in f32: all weights of the group
 * are equal. */
static const float beyond = 0x1p30F;

/* The number of inputs that share a scale: the library's rule, since no file says it. */
static int64_t group_size_of(int64_t columns) {
    int64_t size = LARGEST_GROUP;
    while (columns % size != 0 && size > GROUP_STEP) {
        size -= GROUP_STEP;
    }
    return columns > LARGEST_GROUP && columns % size == 0 ? size : columns;
}

/* Number `i` of a tensor in a single block. */
static float number_at(const struct graft_weight *weight, int64_t i) {
    const struct graft_row_block *block = graft_weight_block(weight, 0);
    switch (block->dtype) {
    case GRAFT_DTYPE_F16:
        return graft_f32_from_f16(((const uint16_t *)block->data)[i]);
    case GRAFT_DTYPE_BF16:
        return graft_f32_from_bf16(((const uint16_t *)block->data)[i]);
    default:
        return ((const float *)block->data)[i];
    }
}

static int is_constant(float scale, float shift) {
    return shift != 0.0F && fabsf(shift) >= fabsf(scale) * beyond;
}

/* Fills in the zero points of n groups. Returns how many groups are constant. */
static int64_t divide(const struct graft_weight *scales, const struct graft_weight *shifts, int64_t n, float *zeros) {
    int64_t constant = 0;
    for (int64_t i = 0; i < n; i++) {
        const float scale = number_at(scales, i), shift = number_at(shifts, i);
        const int is = is_constant(scale, shift);
        zeros[i] = is ? beyond : shift != 0.0F ? shift / scale : 0.0F;
        constant += is;
    }
    return constant;
}

static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    const int64_t n = codec->rows * graft_codec_groups(codec);
    const struct graft_weight *scales = codec->scales;
    float *zeros = NULL, *own = NULL;
    (void)context;
    const struct graft_weight *shifts = graft_build_weight(build, "weight._shift", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    codec->zeros = graft_build_floats(build, n, 1, &zeros, error);
    if (codec->zeros == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (divide(scales, shifts, n, zeros) == 0) {
        return GRAFT_OK;
    }
    codec->scales = graft_build_floats(build, n, 1, &own, error);
    for (int64_t i = 0; i < n && codec->scales != NULL; i++) {
        const float scale = number_at(scales, i), shift = number_at(shifts, i);
        own[i] = is_constant(scale, shift) ? shift / beyond : scale;
    }
    return codec->scales != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static void add_numbers(struct graft_scheme *scheme, int32_t role, const char *name, int64_t n) {
    const int64_t shape[2] = {n, 1};
    graft_scheme_add(scheme, role, name, GRAFT_DTYPE_NONE, 2, shape)->flags = GRAFT_PARAMETER_CONTIGUOUS;
}

/* Codes are in strips: a byte has codes from distant parts of the module, so such modules cannot be joined. */
void quanto_add_packed(struct graft_scheme *scheme) {
    struct graft_codec *codec = &scheme->codec;
    codec->layout = GRAFT_CODED_STRIPS_UPWARDS;
    codec->group_size = group_size_of(codec->columns);
    const int64_t groups = codec->rows * graft_codec_groups(codec), strips = 8 / codec->bits;
    const int64_t codes[2] = {(groups + strips - 1) / strips, codec->group_size};
    graft_scheme_add(scheme, GRAFT_CODED_CODES, "weight._data._data", GRAFT_DTYPE_U8, 2, codes);
    add_numbers(scheme, GRAFT_CODED_SCALES, "weight._scale", groups);
    add_numbers(scheme, GRAFT_CODED_OTHER, "weight._shift", groups);
    scheme->finish = finish;
}
