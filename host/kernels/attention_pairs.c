/* SPDX-License-Identifier: Apache-2.0 */
/* Products of attention with many queries in bf16, if keys and values are stored as bf16: by pairs or by tiles. */
#include "kernels/attention_block.h"
#include "kernels/cpu.h"
#include "kernels/tiles_attention.h"

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The columns rounded up to whole strips: columns are paired and multiplied in strips of pack_rows. */
static int64_t in_strips(const struct graft_loops *loops, int64_t columns) {
    return (columns + loops->pack_rows - 1) / loops->pack_rows * loops->pack_rows;
}

static uint32_t *paired_q(const struct graft_attention_block *block) {
    return (uint32_t *)block->stored; /* [strips, head_dim / 2, pack_rows] */
}

static uint32_t *paired_scores(const struct graft_attention_block *block) {
    return paired_q(block) + block->input->head_dim / 2 * in_strips(block->loops, block->columns);
}

/* Pairs of values of two keys each: [keys / 2, v_head_dim], or for tiles transposed, [v_head_dim, GRAFT_ATTENTION_KEYS
 * / 2]. */
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

typedef void (*multiply_pairs)(const struct graft_pairs *operands);

/* Multiplies strip by strip. `operands` is filled in except for the strip; its w is that of the first strip, its y the
 * first column. */
static void multiply(const struct graft_attention_block *block, multiply_pairs run, struct graft_pairs operands) {
    int64_t width = block->loops->pack_rows;
    for (int64_t c = 0; c < block->columns; c += width) {
        operands.rows = block->columns - c < width ? block->columns - c : width;
        run(&operands);
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

static void multiply_keys(const struct graft_attention_block *block, multiply_pairs run,
                          const struct graft_attention_rows *rows, int64_t keys) {
    multiply(block, run,
             (struct graft_pairs){
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

/* out += v scores. The sums run over keys here, so that pairs are of two keys each. */
static void multiply_values(const struct graft_attention_block *block, multiply_pairs run, int64_t stride, int64_t step,
                            int64_t keys) {
    multiply(block, run,
             (struct graft_pairs){
                 .x = (const uint16_t *)(const void *)paired_values(block),
                 .x_stride = stride,
                 .x_step = step,
                 .tokens = block->input->v_head_dim,
                 .w = paired_scores(block),
                 .pairs = (keys + 1) / 2,
                 .y = block->out,
                 .y_stride = block->columns,
                 .add = 1,
             });
}

static void softmax_in_pairs(const struct graft_attention_block *block, int64_t keys) {
    block->loops->columns_softmax_pairs(block->scores, keys, block->columns, block->maximum, block->sum, block->factor,
                                        paired_scores(block));
}

static void keys_in_pairs(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                          int64_t keys) {
    multiply_keys(block, block->loops->multiply_pairs, rows, keys);
}

static void values_in_pairs(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                            int64_t keys) {
    int64_t v_head_dim = block->input->v_head_dim;
    const uint16_t *v = (const uint16_t *)rows->data;
    for (int64_t j = 0; j < keys; j += 2) {
        const uint16_t *odd = j + 1 < keys ? v + (j + 1) * rows->row_stride : NULL;
        block->loops->pair(GRAFT_READ_BF16, v + j * rows->row_stride, odd, v_head_dim,
                           paired_values(block) + j / 2 * v_head_dim);
    }
    multiply_values(block, block->loops->multiply_pairs, 2, 2 * v_head_dim, keys);
}

const struct graft_attention_products graft_attention_in_pairs = {
    .keys = keys_in_pairs,
    .values = values_in_pairs,
    .softmax = softmax_in_pairs,
    .start = start_pairs,
};

static void start_tiles(const struct graft_attention_block *block) {
    start_pairs(block);
    graft_tiles_attention_get()->begin();
}

static void end_tiles(const struct graft_attention_block *block) {
    (void)block;
    graft_tiles_attention_get()->end();
}

static void keys_by_tiles(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                          int64_t keys) {
    multiply_keys(block, graft_tiles_attention_get()->multiply_pairs, rows, keys);
}

static void values_by_tiles(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                            int64_t keys) {
    const struct graft_tiles_attention *tiles = graft_tiles_attention_get();
    tiles->turn((const uint16_t *)rows->data, rows->row_stride, keys, block->input->v_head_dim,
                (uint16_t *)(void *)paired_values(block), GRAFT_ATTENTION_KEYS);
    multiply_values(block, tiles->multiply_pairs, GRAFT_ATTENTION_KEYS, 2, keys);
}

const struct graft_attention_products graft_attention_by_tiles = {
    .keys = keys_by_tiles,
    .values = values_by_tiles,
    .softmax = softmax_in_pairs,
    .start = start_tiles,
    .end = end_tiles,
};

const struct graft_attention_products *graft_attention_products_of(const struct graft_attention_input *input,
                                                                   const struct graft_attention_item *item) {
    const int isa = graft_cpu_isa();
    if (item->sequence->dtype != GRAFT_DTYPE_BF16 || input->head_dim % 2 != 0 || isa < GRAFT_ISA_AVX512_BF16) {
        return &graft_attention_in_f32;
    }
    return isa == GRAFT_ISA_AMX ? &graft_attention_by_tiles : &graft_attention_in_pairs;
}
