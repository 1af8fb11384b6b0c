/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

#include "graft/convert.h"

static int64_t count_numbers(const struct lora_columns *columns) {
    return (columns->out_features + LORA_BLOCK - 1) / LORA_BLOCK * columns->rank * LORA_BLOCK;
}

int lora_columns_init(struct lora_columns *columns, int64_t rank, int64_t out_features) {
    *columns = (struct lora_columns){.rank = rank, .out_features = out_features, .loops = lora_add_loops_get()};
    const size_t bytes = (size_t)count_numbers(columns) * sizeof *columns->f32;
    columns->f32 = aligned_alloc(64, bytes);
    if (columns->f32 == NULL) {
        return -1;
    }
    memset(columns->f32, 0, bytes);
    return 0;
}

void lora_columns_finish(struct lora_columns *columns) {
    free(columns->f32);
    free(columns->bf16);
    columns->f32 = NULL;
    columns->bf16 = NULL;
}

void lora_columns_set(struct lora_columns *columns, int64_t output, const float *row, int64_t stride, float factor) {
    float *to = columns->f32 + output / LORA_BLOCK * columns->rank * LORA_BLOCK + output % LORA_BLOCK;
    for (int64_t r = 0; r < columns->rank; r++) {
        to[r * LORA_BLOCK] = factor * row[r * stride];
    }
}

int lora_columns_narrow(struct lora_columns *columns) {
    const int64_t n = count_numbers(columns);
    uint32_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        any |= graft_bits_from_f32(columns->f32[i]);
    }
    if ((any & 0xffff) != 0) {
        return 0;
    }
    columns->bf16 = aligned_alloc(64, (size_t)n * sizeof *columns->bf16);
    if (columns->bf16 == NULL) {
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        columns->bf16[i] = graft_bf16_from_f32(columns->f32[i]);
    }
    free(columns->f32);
    columns->f32 = NULL;
    return 0;
}
