/* SPDX-License-Identifier: Apache-2.0 */
/* Biases of packed weights: rows of numbers that are added to products. */
#ifndef GRAFT_PACKED_BIAS_H
#define GRAFT_PACKED_BIAS_H

#include "convert.h"
#include "kernels.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [any] y [tokens, n] += bias [n]; rows of y lie `stride` apart. */
GRAFT_INLINE void graft_packed_add_row(const float *bias, int64_t n, int64_t tokens, float *y, int64_t stride) {
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t r = 0; r < n; r++) {
            y[t * stride + r] += bias[r];
        }
    }
}

/* [any] numbers [n] = a bias from row `first` on; NULL: 0. */
GRAFT_INLINE void graft_packed_read_bias(const struct graft_weight *bias, int64_t first, int64_t n, float *numbers) {
    const struct graft_row_block *block = bias != NULL ? graft_weight_block(bias, 0) : NULL;
    int32_t next = 1;
    memset(numbers, 0, (size_t)n * sizeof *numbers);
    for (int64_t i = 0; i < n && block != NULL; i++, first++) {
        for (; first >= block->rows; block = graft_weight_block(bias, next++)) {
            first -= block->rows;
        }
        numbers[i] = graft_f32_at(block->data, block->dtype, first);
    }
}

/* [forward] A bias [rows] as f32, in scratch memory; NULL stays NULL. */
GRAFT_INLINE int graft_packed_bias(const struct graft_weight *bias, const struct graft_call *call, int64_t rows,
                                   const float **numbers, struct graft_error *error) {
    float *widened = NULL;
    *numbers = NULL;
    if (bias == NULL) {
        return GRAFT_OK;
    }
    widened = graft_scratch_floats(call, rows, 1, error);
    *numbers = widened;
    return widened != NULL ? call->kernels->widen(call, bias, widened, error) : GRAFT_ERROR_INTERNAL;
}

/* What graft_packed_add_bias gives to the body of its loop. */
struct graft_packed_biased {
    const float *bias; /* [rows] */
    int64_t rows;      /* of the weight */
    float *y;          /* [tokens, rows] */
};

GRAFT_ASSERT_SIZE(struct graft_packed_biased, 24);

/* [any] A body: tokens [begin, end). */
GRAFT_INLINE void graft_packed_add_to(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_biased *biased = (const struct graft_packed_biased *)data;
    graft_packed_add_row(biased->bias, biased->rows, end - begin, biased->y + begin * biased->rows, biased->rows);
}

/* [forward] y [tokens, rows] += bias [rows]; NULL: there is none. */
GRAFT_INLINE int graft_packed_add_bias(const struct graft_weight *bias, const struct graft_call *call, int64_t rows,
                                       int64_t tokens, float *y, struct graft_error *error) {
    struct graft_packed_biased biased;
    int status = graft_packed_bias(bias, call, rows, &biased.bias, error);
    if (status == GRAFT_OK && bias != NULL) {
        biased.rows = rows;
        biased.y = y;
        call->threads->parallel_for(tokens, 8, graft_packed_add_to, &biased);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
