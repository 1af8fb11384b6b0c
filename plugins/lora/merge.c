/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static float from_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t to_bits(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float from_half(uint16_t half) {
    uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
    float size = exponent == 0    ? ldexpf((float)fraction, -24)
                 : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                  : ldexpf((float)(fraction | 1024), (int)exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}

/* To the nearest, of two the even one. */
static uint16_t to_bfloat16(float number) {
    uint32_t bits = to_bits(number);
    return isnan(number) ? (uint16_t)((bits >> 16) | 0x40) : (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

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
        int64_t at = row * weight->columns + k;
        out[k] = block->dtype == GRAFT_DTYPE_F32   ? ((const float *)block->data)[at]
                 : block->dtype == GRAFT_DTYPE_F16 ? from_half(((const uint16_t *)block->data)[at])
                                                   : from_bits((uint32_t)((const uint16_t *)block->data)[at] << 16);
    }
}

struct work {
    const struct graft_product *original;
    const struct graft_product *b;
    const float *a; /* [rank, in_features] */
    int64_t rank;
    float factor;
    struct lora_merged *merged;
    atomic_int failed;
};

static void write_row(const struct lora_merged *merged, int64_t row, const float *numbers) {
    int64_t columns = merged->weight.columns;
    if (merged->block.dtype == GRAFT_DTYPE_F32) {
        memcpy((float *)merged->data + row * columns, numbers, (size_t)columns * sizeof *numbers);
        return;
    }
    uint16_t *out = (uint16_t *)merged->data + row * columns;
    for (int64_t k = 0; k < columns; k++) {
        out[k] = to_bfloat16(numbers[k]);
    }
}

static void merge_rows(void *data, int64_t begin, int64_t end) {
    struct work *work = data;
    int64_t columns = work->merged->weight.columns, rank = work->rank;
    float *row = malloc((size_t)(columns + rank) * sizeof *row);
    if (row == NULL) {
        atomic_store(&work->failed, 1);
        return;
    }
    float *b = row + columns;
    for (int64_t r = begin; r < end; r++) {
        lora_read_row(work->original->weight, work->original->first_row + r, row);
        lora_read_row(work->b->weight, work->b->first_row + r, b);
        for (int64_t k = 0; k < rank; k++) {
            float much = work->factor * b[k];
            const float *a = work->a + k * columns;
            for (int64_t c = 0; c < columns; c++) {
                row[c] += much * a[c];
            }
        }
        write_row(work->merged, r, row);
    }
    free(row);
}

/* Room for the result, in the type that it has. */
static int prepare(const struct graft_product *original, struct lora_merged *merged) {
    const struct graft_weight *weight = original->weight;
    int all_bfloat16 = 1;
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        all_bfloat16 &= graft_weight_block(weight, i)->dtype == GRAFT_DTYPE_BF16;
    }
    merged->block = (struct graft_row_block){.struct_size = sizeof merged->block,
                                             .dtype = all_bfloat16 ? GRAFT_DTYPE_BF16 : GRAFT_DTYPE_F32,
                                             .rows = original->rows};
    merged->weight = *weight;
    merged->weight.struct_size = sizeof merged->weight;
    merged->weight.shape[0] = merged->weight.rows = original->rows;
    merged->weight.blocks = &merged->block;
    merged->weight.n_blocks = 1;
    merged->weight.block_stride = sizeof merged->block;
    merged->bias = original->bias;
    size_t bytes = (size_t)(original->rows * weight->columns) * (all_bfloat16 ? 2 : 4);
    merged->data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    merged->block.data = merged->data;
    return merged->data != NULL ? 0 : -1;
}

int lora_merge(const struct graft_product *original, const struct graft_product *a, const struct graft_product *b,
               float factor, const struct graft_threads *threads, const char *path, struct lora_merged *merged,
               struct graft_error *error) {
    int64_t columns = original->weight->columns, rank = a->rows;
    *merged = (struct lora_merged){.bias = NULL};
    if (!lora_are_floats(original->weight) || !lora_are_floats(a->weight) || !lora_are_floats(b->weight)) {
        return GRAFT_OK;
    }
    float *wide = malloc((size_t)(rank * columns) * sizeof *wide);
    if (wide == NULL || prepare(original, merged) != 0) {
        free(wide);
        return graft_fail_memory(error, path);
    }
    for (int64_t k = 0; k < rank; k++) {
        lora_read_row(a->weight, a->first_row + k, wide + k * columns);
    }
    struct work work = {original, b, wide, rank, factor, merged, 0};
    threads->parallel_for(original->rows, 16, merge_rows, &work);
    free(wide);
    if (atomic_load(&work.failed)) {
        free(merged->data);
        return graft_fail_memory(error, path);
    }
    return GRAFT_OK;
}
