/* SPDX-License-Identifier: Apache-2.0 */
/* Products of attention with many queries in f32. */
#include <string.h>

#include "kernels/attention_block.h"

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
                           columns, block->scores, columns, NULL);
}

static void values_in_f32(const struct graft_attention_block *block, const struct graft_attention_rows *rows,
                          int64_t keys) {
    int64_t columns = block->columns;
    int64_t v_head_dim = block->input->v_head_dim;
    const struct graft_attention_rows v = as_f32(block, rows, keys, v_head_dim);
    block->loops->multiply((const float *)v.data, 1, v.row_stride, v_head_dim, GRAFT_READ_F32, block->scores, columns,
                           keys, columns, block->out, columns, NULL);
}

static void softmax_in_f32(const struct graft_attention_block *block, int64_t keys) {
    block->loops->columns_softmax(block->scores, keys, block->columns, block->maximum, block->sum, block->factor);
}

const struct graft_attention_products graft_attention_in_f32 = {
    .keys = keys_in_f32,
    .values = values_in_f32,
    .softmax = softmax_in_f32,
};
