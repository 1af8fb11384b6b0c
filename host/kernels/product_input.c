/* SPDX-License-Identifier: Apache-2.0 */
/* Converts x to the form that panels need. */
#include <string.h>

#include "kernels/gemv.h"
#include "kernels/product.h"
#include "kernels/table.h"
#include "kernels/tiles.h"
#include "kernels/tiles_transposed.h"

struct conversion {
    const struct graft_loops *loops;
    const struct graft_product_input *input;
    void *data; /* [tokens, stride] */
    int64_t stride;
};

static int is_bf16(const struct graft_product_input *input) {
    return input->form == GRAFT_INPUT_PAIRS || input->form == GRAFT_INPUT_GEMV;
}

static int is_split(const struct graft_product_input *input) {
    return input->form == GRAFT_INPUT_SPLIT || input->form == GRAFT_INPUT_ROUNDED_SPLIT;
}

static int is_packed(const struct graft_product_input *input) {
    return input->form == GRAFT_INPUT_TILES || input->form == GRAFT_INPUT_TILE_ROWS;
}

/* The distance of tokens: elements 4 KB apart share a set of the cache, so that tokens that are multiplied together are
 * a cache line further apart. */
static int64_t split_stride(int64_t columns) {
    enum { LINE = 16 };
    return graft_round_up(columns, GRAFT_SPLIT_COLUMNS) + LINE;
}

static int64_t stride_of(const struct graft_product_input *input) {
    switch (input->form) {
    case GRAFT_INPUT_PAIRS:
        return input->columns + input->columns % 2;
    case GRAFT_INPUT_GEMV:
        return graft_gemv_stride(input->columns);
    case GRAFT_INPUT_SPLIT:
    case GRAFT_INPUT_ROUNDED_SPLIT:
        return split_stride(input->columns);
    default:
        return input->columns;
    }
}

static void convert_row(const struct graft_loops *loops, const struct graft_product_input *input, int64_t t,
                        char *out) {
    const float *x = input->x + t * input->x_stride;
    if (is_bf16(input)) {
        loops->narrow(x, input->columns, (uint16_t *)(void *)out);
    } else if (is_split(input)) {
        loops->split(input->form == GRAFT_INPUT_SPLIT ? GRAFT_READ_F32 : GRAFT_READ_F32_AS_BF16, x, input->columns,
                     (float *)(void *)out);
    } else {
        loops->widen(GRAFT_READ_F32_AS_BF16, x, input->columns, (float *)(void *)out);
    }
}

static int64_t element_size(const struct graft_product_input *input) {
    return is_bf16(input) ? 2 : 4;
}

static void convert_rows(void *data, int64_t begin, int64_t end) {
    const struct conversion *conversion = (const struct conversion *)data;
    const struct graft_product_input *input = conversion->input;
    int64_t bytes = conversion->stride * element_size(input);
    int64_t used = input->columns * element_size(input);
    for (int64_t t = begin; t < end; t++) {
        char *out = (char *)conversion->data + t * bytes;
        memset(out + used, 0, (size_t)(bytes - used));
        convert_row(conversion->loops, input, t, out);
    }
}

static void pack_quarters(void *data, int64_t begin, int64_t end) {
    const struct conversion *conversion = (const struct conversion *)data;
    const struct graft_product_input *input = conversion->input;
    for (int64_t t = begin; t < end; t++) {
        const float *x = t < input->tokens ? input->x + t * input->x_stride : NULL;
        graft_gemv_pack(conversion->loops, x, input->tokens, input->columns, t, (uint16_t *)conversion->data);
    }
}

static int64_t token_groups(const struct graft_product_input *input) {
    return (input->tokens + GRAFT_TILE_TOKENS - 1) / GRAFT_TILE_TOKENS;
}

/* Packs items, each of which is a block of columns of a group of tokens. */
static void pack_tiles(void *data, int64_t begin, int64_t end) {
    const struct conversion *conversion = (const struct conversion *)data;
    const struct graft_product_input *input = conversion->input;
    int64_t groups = token_groups(input);
    for (int64_t i = begin; i < end; i++) {
        int64_t token = i % groups * GRAFT_TILE_TOKENS;
        int64_t column = i / groups * GRAFT_TILE_BLOCK;
        int64_t columns = input->columns - column;
        int64_t offset = graft_tiles_offset(input->tokens, input->columns, i / groups, token);
        const int is_left = input->form == GRAFT_INPUT_TILE_ROWS;
        (is_left ? graft_tiles_transposed_get()->pack : graft_tiles_get()->pack)(
            input->x + token * input->x_stride + column, input->x_stride, input->tokens - token,
            columns < GRAFT_TILE_BLOCK ? columns : GRAFT_TILE_BLOCK, (uint16_t *)conversion->data + offset);
    }
}

static void convert(const struct graft_call *call, struct conversion *conversion) {
    const struct graft_product_input *input = conversion->input;
    if (is_packed(input)) {
        int64_t blocks = (input->columns + GRAFT_TILE_BLOCK - 1) / GRAFT_TILE_BLOCK;
        call->threads->parallel_for(token_groups(input) * blocks,
                                    graft_grain_rows(GRAFT_TILE_TOKENS * GRAFT_TILE_BLOCK), pack_tiles, conversion);
    } else if (input->form == GRAFT_INPUT_QUARTERS) {
        call->threads->parallel_for(graft_gemv_tokens(input->tokens), graft_grain_rows(input->columns), pack_quarters,
                                    conversion);
    } else {
        call->threads->parallel_for(input->tokens, graft_grain_rows(input->columns), convert_rows, conversion);
    }
}

int64_t graft_product_input_bytes(const struct graft_product_input *input) {
    if (is_packed(input)) {
        return token_groups(input) * GRAFT_TILE_TOKENS * graft_round_up(input->columns, GRAFT_TILE_COLUMNS) *
               (int64_t)sizeof(uint16_t);
    }
    if (input->form == GRAFT_INPUT_QUARTERS) {
        return graft_gemv_numbers(input->tokens, input->columns) * (int64_t)sizeof(uint16_t);
    }
    return input->tokens * stride_of(input) * element_size(input);
}

static int is_same(const struct graft_product_input *a, const struct graft_product_input *b) {
    return a->x == b->x && a->x_stride == b->x_stride && a->tokens == b->tokens && a->columns == b->columns &&
           a->form == b->form;
}

const struct graft_product_input *graft_product_input_find(const struct graft_product_input *inputs, int64_t n,
                                                           const struct graft_product_input *wanted) {
    for (int64_t i = n - 1; i >= 0; i--) { /* it is usually the input of the previous panel */
        if (is_same(&inputs[i], wanted)) {
            return &inputs[i];
        }
    }
    return NULL;
}

const struct graft_product_input *graft_product_input_get(const struct graft_call *call,
                                                          const struct graft_product_input *wanted,
                                                          struct graft_product_input *inputs, int64_t *n_inputs) {
    const struct graft_product_input *found = graft_product_input_find(inputs, *n_inputs, wanted);
    if (found != NULL) {
        return found;
    }
    struct graft_product_input *input = &inputs[*n_inputs];
    *input = *wanted;
    if (input->form == GRAFT_INPUT_AS_GIVEN) {
        input->data = input->x;
        input->data_stride = input->x_stride;
    } else {
        void *data = call->scratch_alloc(call->scratch, graft_product_input_bytes(input));
        if (data == NULL) {
            return NULL;
        }
        struct conversion conversion = {graft_loops_get(), input, data, stride_of(input)};
        convert(call, &conversion);
        input->data = data;
        input->data_stride = conversion.stride;
    }
    *n_inputs += 1;
    return input;
}
