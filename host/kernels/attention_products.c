/* SPDX-License-Identifier: Apache-2.0 */
/* The products of attention with many queries: in f32, or in bf16 where keys and values are stored so. */
#include <string.h>

#include "kernels/attention_block.h"
#include "kernels/cpu.h"

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* --- In f32 --- */

struct graft_attention_rows graft_attention_rows_as_f32(const struct graft_loops *loops,
                                                        const struct graft_attention_rows *rows, graft_dtype dtype,
                                                        int64_t n, int64_t dim, float *wide) {
    const int64_t together = rows->row_stride == dim ? n : 1;
    if (dtype == GRAFT_DTYPE_F32) {
        return *rows;
    }
    for (int64_t j = 0; j < n; j += together) {
        const uint16_t *row = (const uint16_t *)rows->data + j * rows->row_stride;
        loops->widen(graft_reading_of(dtype), row, together * dim, wide + j * dim);
    }
    return (struct graft_attention_rows){wide, dim};
}

static struct graft_attention_rows as_f32(const struct graft_attention_block *block,
                                          const struct graft_attention_rows *rows, int64_t keys, int64_t dim) {
    return graft_attention_rows_as_f32(block->loops, rows, block->item->sequence->dtype, keys, dim,
                                       (float *)block->stored);
}

static void keys_in_f32(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                        int64_t keys) {
    int64_t columns = block->columns;
    int64_t head_dim = block->input->head_dim;
    const struct graft_attention_rows k = as_f32(block, rows, keys, head_dim);
    memset(block->scores, 0, (size_t)(keys * columns) * sizeof(float));
    block->loops->multiply((const float *)k.data, k.row_stride, 1, keys, GRAFT_READ_F32, block->q, columns, head_dim,
                           columns, block->scores, columns);
}

static void values_in_f32(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                          int64_t keys) {
    int64_t columns = block->columns;
    int64_t v_head_dim = block->input->v_head_dim;
    const struct graft_attention_rows v = as_f32(block, rows, keys, v_head_dim);
    block->loops->multiply((const float *)v.data, 1, v.row_stride, v_head_dim, GRAFT_READ_F32, block->scores, columns,
                           keys, columns, block->out, columns);
}

static void softmax_in_f32(const struct graft_attention_block *block, int64_t keys) {
    block->loops->columns_softmax(block->scores, keys, block->columns, block->maximum, block->sum, block->factor);
}

const struct graft_attention_products graft_attention_in_f32 = {
    .keys = keys_in_f32,
    .values = values_in_f32,
    .softmax = softmax_in_f32,
};

/* --- In pairs of bf16 --- */

/* Numbers in a row of all strips: columns are paired and multiplied pack_rows at a time. */
static int64_t in_strips(const struct graft_loops *loops, int64_t columns) {
    return (columns + loops->pack_rows - 1) / loops->pack_rows * loops->pack_rows;
}

static uint32_t *paired_q(const struct graft_attention_block *block) {
    return (uint32_t *)block->stored; /* [strips, head_dim / 2, pack_rows] */
}

static uint32_t *paired_scores(const struct graft_attention_block *block) {
    return paired_q(block) + block->input->head_dim / 2 * in_strips(block->loops, block->columns);
}

static uint32_t *paired_values(const struct graft_attention_block *block) {
    return paired_scores(block) + GRAFT_ATTENTION_KEYS / 2 * in_strips(block->loops, block->columns);
}

int64_t graft_attention_stored_bytes(const struct graft_loops *loops, const struct graft_attention_input *input,
                                     int64_t columns) {
    int64_t strips = in_strips(loops, columns) * (input->head_dim / 2 + GRAFT_ATTENTION_KEYS / 2);
    int64_t values = GRAFT_ATTENTION_KEYS / 2 * input->v_head_dim;
    int64_t wide = GRAFT_ATTENTION_KEYS * larger(input->head_dim, input->v_head_dim);
    return larger((strips + values) * (int64_t)sizeof(uint32_t), wide * (int64_t)sizeof(float));
}

int graft_attention_has_pairs(const struct graft_attention_input *input, const struct graft_attention_item *item) {
    return item->sequence->dtype == GRAFT_DTYPE_BF16 && input->head_dim % 2 == 0 &&
           graft_cpu_isa() == GRAFT_ISA_AVX512_BF16;
}

/* `operands` has all but what belongs to a strip: w is the first's, y the first column. */
static void multiply(const struct graft_attention_block *block, struct graft_pairs operands) {
    int64_t width = block->loops->pack_rows;
    for (int64_t c = 0; c < block->columns; c += width) {
        operands.rows = block->columns - c < width ? block->columns - c : width;
        block->loops->multiply_pairs(&operands);
        operands.w += operands.pairs * width;
        operands.y += width;
    }
}

static void start_pairs(const struct graft_attention_block *block) {
    int64_t width = block->loops->pack_rows;
    int64_t columns = block->columns;
    uint32_t *out = paired_q(block);
    for (int64_t c = 0; c < columns; c += width) {
        for (int64_t d = 0; d < block->input->head_dim; d += 2, out += width) {
            const float *even = block->q + d * columns + c;
            block->loops->pair(GRAFT_READ_F32, even, even + columns, columns - c < width ? columns - c : width, out);
        }
    }
}

static void keys_in_pairs(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                          int64_t keys) {
    multiply(block, (struct graft_pairs){
                        .x = (const uint16_t *)rows->data,
                        .x_stride = rows->row_stride,
                        .x_step = 2,
                        .tokens = keys,
                        .w = paired_q(block),
                        .pairs = block->input->head_dim / 2,
                        .y = block->scores,
                        .y_stride = block->columns,
                    });
}

static void softmax_in_pairs(const struct graft_attention_block *block, int64_t keys) {
    block->loops->columns_softmax_pairs(block->scores, keys, block->columns, block->maximum, block->sum, block->factor,
                                        paired_scores(block));
}

/* Here the sums run along the keys, and so do the pairs: two rows of values become one of pairs. */
static void values_in_pairs(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                            int64_t keys) {
    int64_t v_head_dim = block->input->v_head_dim;
    const uint16_t *v = (const uint16_t *)rows->data;
    uint32_t *values = paired_values(block); /* [keys / 2, v_head_dim] */
    for (int64_t j = 0; j < keys; j += 2) {
        const uint16_t *odd = j + 1 < keys ? v + (j + 1) * rows->row_stride : NULL;
        block->loops->pair(GRAFT_READ_BF16, v + j * rows->row_stride, odd, v_head_dim, values + j / 2 * v_head_dim);
    }
    multiply(block, (struct graft_pairs){
                        .x = (const uint16_t *)(const void *)values,
                        .x_stride = 2,
                        .x_step = 2 * v_head_dim,
                        .tokens = v_head_dim,
                        .w = paired_scores(block),
                        .pairs = (keys + 1) / 2,
                        .y = block->out,
                        .y_stride = block->columns,
                        .add = 1,
                    });
}

const struct graft_attention_products graft_attention_in_pairs = {
    .keys = keys_in_pairs,
    .values = values_in_pairs,
    .softmax = softmax_in_pairs,
    .start = start_pairs,
};
