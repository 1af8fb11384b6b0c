/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and top-k of rows. */
#include <math.h>

#include "kernels/loops.h"
#include "kernels/table.h"

struct softmax {
    const struct graft_loops *loops;
    float *x; /* [rows, columns] */
    int64_t columns;
};

/* A row of nothing but -inf has no distribution; it yields zeros, as hidden rows do in attention. */
static void softmax_rows(void *data, int64_t begin, int64_t end) {
    const struct softmax *softmax = (const struct softmax *)data;
    for (int64_t i = begin; i < end; i++) {
        float *x = softmax->x + i * softmax->columns;
        float largest = softmax->loops->maximum(x, softmax->columns);
        float sum = softmax->loops->exp_sum(x, largest == -INFINITY ? 0.0f : largest, softmax->columns);
        if (sum != 0.0f) {
            softmax->loops->scale(x, 1.0f / sum, softmax->columns);
        }
    }
}

int graft_softmax(const struct graft_call *call, float *x, int64_t rows, int64_t columns, struct graft_error *error) {
    (void)error;
    struct softmax softmax = {graft_loops_get(), x, columns};
    call->threads->parallel_for(rows, graft_grain_rows(columns), softmax_rows, &softmax);
    return GRAFT_OK;
}

struct top_k {
    const float *x; /* [rows, columns] */
    int64_t columns;
    int64_t k;
    int32_t *index; /* [rows, k] */
    float *values;  /* [rows, k] */
};

static int is_larger(float a, float b) {
    return a > b || (isnan(b) && !isnan(a));
}

/* Keeps the k largest numbers so far in order. Of equal numbers the earlier one comes first. */
static void top_k_row(const struct top_k *top_k, const float *x, int32_t *index, float *values) {
    int64_t kept = 0;
    for (int64_t i = 0; i < top_k->columns; i++) {
        if (kept == top_k->k && !is_larger(x[i], values[kept - 1])) {
            continue;
        }
        int64_t place = kept < top_k->k ? kept : kept - 1;
        for (; place > 0 && is_larger(x[i], values[place - 1]); place--) {
            values[place] = values[place - 1];
            index[place] = index[place - 1];
        }
        values[place] = x[i];
        index[place] = (int32_t)i;
        kept += kept < top_k->k;
    }
}

static void top_k_rows(void *data, int64_t begin, int64_t end) {
    const struct top_k *top_k = (const struct top_k *)data;
    for (int64_t i = begin; i < end; i++) {
        top_k_row(top_k, top_k->x + i * top_k->columns, top_k->index + i * top_k->k, top_k->values + i * top_k->k);
    }
}

int graft_top_k(const struct graft_call *call, const float *x, int64_t rows, int64_t columns, int64_t k, int32_t *index,
                float *values, struct graft_error *error) {
    (void)error;
    struct top_k top_k = {x, columns, k, index, values};
    call->threads->parallel_for(rows, graft_grain_rows(columns), top_k_rows, &top_k);
    return GRAFT_OK;
}
