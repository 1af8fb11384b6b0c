/* SPDX-License-Identifier: Apache-2.0 */
#include "sums.h"

#include <stdlib.h>

#include "graft/convert.h"

static int is_float(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

int lora_are_floats(const struct graft_weight *weight) {
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        if (!is_float(graft_weight_block(weight, i)->dtype)) {
            return 0;
        }
    }
    return weight->n_blocks > 0;
}

void lora_read_row(const struct graft_weight *weight, int64_t row, float *out) {
    int32_t i = 0;
    const struct graft_row_block *block = graft_weight_block(weight, i);
    for (; row >= block->rows; block = graft_weight_block(weight, ++i)) {
        row -= block->rows;
    }
    for (int64_t k = 0; k < weight->columns; k++) {
        out[k] = graft_f32_at(block->data, block->dtype, row * weight->columns + k);
    }
}

int lora_delta_open(const struct lora_delta *delta, struct lora_columns *a) {
    const int64_t rank = delta->a.rows, inputs = delta->a.weight->columns;
    float *rows = malloc((size_t)(rank * inputs) * sizeof *rows);
    *a = (struct lora_columns){.rank = 0};
    if (rows == NULL || lora_columns_init(a, delta->a.weight, rank, inputs, 1.0F) != 0) {
        free(rows);
        return -1;
    }
    for (int64_t k = 0; k < rank; k++) {
        lora_read_row(delta->a.weight, delta->a.first_row + k, rows + k * inputs);
    }
    for (int64_t c = 0; c < inputs; c++) {
        lora_columns_set(a, c, rows + c, inputs);
    }
    free(rows);
    return 0;
}

static int64_t padded(int64_t inputs) {
    return (inputs + LORA_BLOCK - 1) / LORA_BLOCK * LORA_BLOCK;
}

float *lora_sum_room(const struct lora_columns *a) {
    return calloc((size_t)(padded(a->out_features) + a->rank), sizeof(float));
}

void lora_add_delta(const struct lora_delta *delta, const struct lora_columns *a, int64_t r, float *row) {
    float *b = row + padded(a->out_features);
    lora_read_row(delta->b.weight, delta->b.first_row + r, b);
    for (int64_t k = 0; k < a->rank; k++) {
        b[k] *= delta->factor;
    }
    for (int64_t block = 0; block * LORA_BLOCK < a->out_features; block++) {
        lora_add_block(a, block, b, row + block * LORA_BLOCK);
    }
}
