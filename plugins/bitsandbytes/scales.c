/* SPDX-License-Identifier: Apache-2.0 */
#include "scales.h"

#include "quant_state.h"

static int64_t blocks_of(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

static int refuse(const struct bnb_parts *parts, const char *tensor, const struct graft_weight *weight,
                  int64_t expected, struct graft_error *error) {
    const struct bnb_name name = bnb_name_of(parts->path, tensor);
    return graft_error_set(error, GRAFT_ERROR_MODEL, name.text, "has %lld elements, expected %lld: one for each block",
                           (long long)weight->rows, (long long)expected);
}

static int read_state(struct bnb_parts *parts, const struct graft_codec *codec, struct bnb_quant_state *state,
                      struct graft_error *error) {
    const struct bnb_name name = bnb_name_of(parts->path, parts->state_name);
    if (bnb_quant_state_read(parts->state, name.text, parts->type, parts->nested_absmax != NULL, &parts->at_state,
                             state, error) != GRAFT_OK) {
        return error->code;
    }
    if (parts->block != 0 && state->block != parts->block) {
        graft_error_set(error, GRAFT_ERROR_MODEL, name.text,
                        "blocksize: expected the same for all parts, got %lld for one and %lld for another",
                        (long long)parts->block, (long long)state->block);
    }
    if (state->columns != codec->columns || state->rows > codec->rows - parts->row ||
        bnb_elements(parts->codes, parts->row * graft_codec_row_bytes(codec),
                     state->rows * graft_codec_row_bytes(codec)) == NULL) {
        graft_error_set(error, GRAFT_ERROR_MODEL, name.text, "shape: expected [%lld, %lld], got [%lld, %lld]",
                        (long long)(codec->rows - parts->row), (long long)codec->columns, (long long)state->rows,
                        (long long)state->columns);
    }
    return error->code;
}

/* Sets groups for a block size that need not divide rows: no group spans two rows. */
static void set_groups(struct graft_codec *codec, int64_t block) {
    const int64_t power = codec->columns & -codec->columns; /* the largest power of two that divides it */
    codec->group_size = power < block ? power : block;
}

/* Reads the next part, and computes its scales if necessary. */
static int read_part(struct bnb_parts *parts, const struct graft_codec *codec, float *computed,
                     struct graft_error *error) {
    struct bnb_quant_state of;
    if (read_state(parts, codec, &of, error) != GRAFT_OK) {
        return error->code;
    }
    const int64_t blocks = blocks_of(of.rows * of.columns, of.block);
    const int64_t nested = parts->nested_absmax != NULL ? blocks_of(blocks, of.nested_block) : 0;
    const void *absmax = bnb_elements(parts->absmax, parts->at_absmax, blocks);
    const float *outer = nested > 0 ? bnb_elements(parts->nested_absmax, parts->at_nested, nested) : NULL;
    if (absmax == NULL) {
        return refuse(parts, "weight.absmax", parts->absmax, parts->at_absmax + blocks, error);
    }
    if (nested > 0 && outer == NULL) {
        return refuse(parts, "weight.nested_absmax", parts->nested_absmax, parts->at_nested + nested, error);
    }
    const int64_t groups = graft_codec_groups(codec);
    float *scales = computed != NULL ? computed + parts->row * groups : NULL;
    for (int64_t i = 0; scales != NULL && i < of.rows * groups; i++) {
        const int64_t block = i * codec->group_size / of.block;
        scales[i] = outer == NULL
                        ? ((const float *)absmax)[block]
                        : parts->nested_map[((const uint8_t *)absmax)[block]] * outer[block / of.nested_block] +
                              of.nested_offset;
    }
    parts->row += of.rows;
    parts->at_absmax += blocks;
    parts->at_nested += nested;
    return GRAFT_OK;
}

/* Reads all parts, and checks that nothing is left. */
static int read_parts(struct bnb_parts *parts, const struct graft_codec *codec, float *computed,
                      struct graft_error *error) {
    while (error->code == GRAFT_OK && parts->row < codec->rows) {
        read_part(parts, codec, computed, error);
    }
    if (parts->at_absmax != parts->absmax->rows) {
        refuse(parts, "weight.absmax", parts->absmax, parts->at_absmax, error);
    }
    if (parts->at_state != parts->state->rows) {
        const struct bnb_name name = bnb_name_of(parts->path, parts->state_name);
        graft_error_set(error, GRAFT_ERROR_MODEL, name.text, "has more data after the last output");
    }
    if (parts->nested_absmax != NULL && parts->at_nested != parts->nested_absmax->rows) {
        refuse(parts, "weight.nested_absmax", parts->nested_absmax, parts->at_nested, error);
    }
    return error->code;
}

/* The first part gives the block size. F32 scales of blocks that divide rows are used in place. */
int bnb_scales_bind(struct bnb_parts *parts, const struct graft_build *build, struct graft_codec *codec,
                    struct graft_error *error) {
    struct bnb_quant_state first;
    float *computed = NULL;
    if (read_state(parts, codec, &first, error) != GRAFT_OK) {
        return error->code;
    }
    parts->at_state = 0;
    parts->block = first.block;
    set_groups(codec, first.block);
    codec->scales = parts->absmax;
    if (parts->nested_absmax != NULL || codec->group_size < first.block) {
        codec->scales = graft_build_floats(build, codec->rows, graft_codec_groups(codec), &computed, error);
    }
    return codec->scales != NULL ? read_parts(parts, codec, computed, error) : GRAFT_ERROR_INTERNAL;
}
