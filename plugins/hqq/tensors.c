/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

enum { STRIPS_OF_3_BITS = 10, MOST_TEXT = 64 };

/* A module's tensors that describe its quantization; if modules are joined, each has its own. Older versions of the
 * library leave some out. */
static const struct {
    const char *name;
    graft_dtype dtype;
    int64_t most; /* maximum number of elements; 0: one number, which the checkpoint stores as a scalar */
} notes[] = {
    {"nbits", GRAFT_DTYPE_I32, 0},
    {"group_size", GRAFT_DTYPE_I32, 0},
    {"axis", GRAFT_DTYPE_I32, 0},
    {"shape", GRAFT_DTYPE_I64, 2},
    {"view_as_float", GRAFT_DTYPE_U8, 0},
    {"quant_scale", GRAFT_DTYPE_U8, 0},
    {"quant_zero", GRAFT_DTYPE_U8, 0},
    {"channel_wise", GRAFT_DTYPE_U8, 0},
    {"optimize", GRAFT_DTYPE_U8, 0},
    {"round_zero", GRAFT_DTYPE_U8, 0},
    {"offload_meta", GRAFT_DTYPE_U8, 0},
    {"encoded_state_dict", GRAFT_DTYPE_U8, 0},
    {"stores_quant_config", GRAFT_DTYPE_U8, 0},
    {"packing", GRAFT_DTYPE_U8, MOST_TEXT},
    {"compute_dtype", GRAFT_DTYPE_U8, MOST_TEXT},
    {"unpack_view_dtype", GRAFT_DTYPE_U8, MOST_TEXT},
};

int hqq_describe_notes(const struct graft_sink *sink, struct graft_error *error) {
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        const struct graft_parameter_info info = {
            .struct_size = sizeof info,
            .flags = GRAFT_PARAMETER_ANY_LENGTH | (notes[i].most == 0 ? GRAFT_PARAMETER_SCALAR : 0),
            .name = notes[i].name,
            .rank = 1,
            .init = GRAFT_INIT_ABSENT,
            .shape = {notes[i].most > 0 ? notes[i].most : 1},
            .dtype = notes[i].dtype,
            .join = graft_join_whole(GRAFT_JOIN_EACH),
        };
        sink->parameter(sink->data, &info, error);
    }
    return error->code;
}

/* Codes of 5, 6 and 8 bits take a byte each, in rows. Smaller codes are in strips: a byte has codes from distant parts
 * of the module, so such modules cannot be joined. */
void hqq_add_tensors(struct graft_scheme *scheme, const struct hqq_params *params) {
    struct graft_codec *codec = &scheme->codec;
    codec->kind = GRAFT_CODE_UINT;
    codec->bits = params->bits > 4 ? 8 : (int32_t)params->bits;
    codec->layout = codec->bits == 8 ? GRAFT_CODED_ROWS : GRAFT_CODED_STRIPS;
    codec->group_size = params->group_size;
    const int64_t groups = codec->rows * graft_codec_groups(codec);
    const int64_t strips = codec->bits == 3 ? STRIPS_OF_3_BITS : 8 / codec->bits;
    const int64_t codes[2] = {(groups + strips - 1) / strips, codec->group_size}, numbers[2] = {groups, 1};
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_CODES, "W_q",
                                                         codec->bits == 3 ? GRAFT_DTYPE_I32 : GRAFT_DTYPE_U8, 2, codes);
    if (codec->bits == 8) {
        info->join = graft_join_rows(0, 1);
    }
    graft_scheme_add(scheme, GRAFT_CODED_SCALES, "scale", GRAFT_DTYPE_NONE, 2, numbers)->join = graft_join_rows(0, 1);
    info = graft_scheme_add(scheme, GRAFT_CODED_ZEROS, "zero", GRAFT_DTYPE_NONE, 2, numbers);
    info->flags = GRAFT_PARAMETER_CONTIGUOUS;
    info->join = graft_join_rows(0, 1);
}

/* Element `i` of a tensor that says how a module was quantized. */
static int64_t number_at(const struct graft_weight *weight, int64_t i) {
    const struct graft_row_block *block = graft_weight_block(weight, 0);
    for (int32_t b = 1; i >= block->rows; b++) {
        i -= block->rows;
        block = graft_weight_block(weight, b);
    }
    switch (block->dtype) {
    case GRAFT_DTYPE_I64:
        return ((const int64_t *)block->data)[i];
    case GRAFT_DTYPE_I32:
        return ((const int32_t *)block->data)[i];
    default:
        return ((const uint8_t *)block->data)[i];
    }
}

/* Compares the elements of the tensor `name` with `expected`, from `first` on in steps of `step`. An absent tensor
 * passes. */
static int check(const struct graft_build *build, const char *name, int64_t first, int64_t step, int64_t expected,
                 struct graft_error *error) {
    const struct graft_weight *weight = build->weight(build->data, name);
    for (int64_t i = first; weight != NULL && i < weight->rows; i += step) {
        const int64_t number = number_at(weight, i);
        if (number != expected) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, build->path, "%s: expected %lld, got %lld", name,
                                   (long long)expected, (long long)number);
        }
    }
    return GRAFT_OK;
}

int hqq_check_tensors(const struct graft_build *build, const void *context, struct graft_codec *codec,
                      struct graft_error *error) {
    const struct hqq_params *params = context;
    const struct {
        const char *name;
        int64_t first, step, expected;
    } expected[] = {
        {"nbits", 0, 1, params->bits},    {"axis", 0, 1, 1},          {"group_size", 0, 1, params->group_size},
        {"shape", 1, 2, params->columns}, {"view_as_float", 0, 1, 0}, {"quant_scale", 0, 1, 0},
        {"quant_zero", 0, 1, 0},
    };
    (void)codec;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        check(build, expected[i].name, expected[i].first, expected[i].step, expected[i].expected, error);
    }
    return error->code;
}
