/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

#include "graft/convert.h"

static int is_bf16(const struct graft_weight *weight) {
    int is = 1;
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        is = is && graft_weight_block(weight, i)->dtype == GRAFT_DTYPE_BF16;
    }
    return is;
}

int lora_columns_init(struct lora_columns *columns, const struct graft_weight *b, int64_t rank, int64_t out_features,
                      float factor) {
    *columns = (struct lora_columns){
        .rank = rank, .out_features = out_features, .factor = factor, .loops = lora_add_loops_get()};
    const size_t n = (size_t)((out_features + LORA_BLOCK - 1) / LORA_BLOCK * LORA_BLOCK * rank);
    const size_t bytes = n * (is_bf16(b) ? sizeof *columns->bf16 : sizeof *columns->f32);
    void *numbers = aligned_alloc(64, bytes);
    if (numbers == NULL) {
        return -1;
    }
    memset(numbers, 0, bytes);
    columns->bf16 = is_bf16(b) ? numbers : NULL;
    columns->f32 = is_bf16(b) ? NULL : numbers;
    return 0;
}

void lora_columns_finish(struct lora_columns *columns) {
    free(columns->f32);
    free(columns->bf16);
    columns->f32 = NULL;
    columns->bf16 = NULL;
}

void lora_columns_set(struct lora_columns *columns, int64_t output, const float *row, int64_t stride) {
    const int64_t first = output / LORA_BLOCK * columns->rank * LORA_BLOCK, own = output % LORA_BLOCK;
    for (int64_t r = 0; r < columns->rank; r++) {
        const int64_t at = first + r * LORA_BLOCK;
        if (columns->bf16 != NULL) {
            columns->bf16[at + lora_bf16_place(own)] = graft_bf16_from_f32(row[r * stride]);
        } else {
            columns->f32[at + own] = columns->factor * row[r * stride];
        }
    }
}
