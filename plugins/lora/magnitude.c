/* SPDX-License-Identifier: Apache-2.0 */
#include "magnitude.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows that are read together. */
enum { ROWS = 64 };

struct work {
    const struct graft_product *base;
    const struct lora_delta *delta;
    struct lora_columns a;
    float *norms; /* [rows] norms of the sums */
    float *bias;  /* [rows] */
    atomic_int failed;
};

static float norm(const float *row, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)row[i] * row[i];
    }
    return (float)sqrt(sum);
}

/* Computes norms of those of the read rows to which the delta is added. */
static void find_row_norms(const struct work *work, int64_t first, float *weight, float *row) {
    const struct graft_product *base = work->base;
    const int64_t left = base->rows - first, n = left < ROWS ? left : ROWS;
    float bias[ROWS];
    lora_base_read(base, first, n, weight, bias);
    for (int64_t i = 0; i < n; i++) {
        const int64_t r = first + i - work->delta->first;
        if (r >= 0 && r < work->delta->b.rows) {
            memcpy(row, weight + i * base->weight->columns, (size_t)base->weight->columns * sizeof *row);
            lora_add_delta(work->delta, &work->a, r, row);
            work->norms[r] = norm(row, base->weight->columns);
            work->bias[r] = bias[i];
        }
    }
}

/* A parallel body: [begin, end) in units of ROWS rows, counted from the first unit that has rows of the delta. */
static void find_norms(void *data, int64_t begin, int64_t end) {
    struct work *work = data;
    const int64_t start = work->delta->first / ROWS;
    float *weight = malloc((size_t)(ROWS * work->base->weight->columns) * sizeof *weight);
    float *row = lora_sum_room(&work->a);
    if (weight == NULL || row == NULL) {
        atomic_store(&work->failed, 1);
    } else {
        for (int64_t i = begin; i < end; i++) {
            find_row_norms(work, (start + i) * ROWS, weight, row);
        }
    }
    free(weight);
    free(row);
}

/* Turns norms into the scales of outputs, and biases into the shifts that are then missing. */
static int divide(const struct graft_weight *m, int64_t rows, struct lora_magnitude *made, const char *path,
                  struct graft_error *error) {
    for (int64_t r = 0; r < rows; r++) {
        float magnitude = 0.0F;
        lora_read_row(m, r, &magnitude);
        if (!(made->scale[r] > 0.0F)) {
            return graft_error_set(
                error, GRAFT_ERROR_MODEL, path,
                "use_dora: row %lld of the adapted weight is all zeros, so it cannot be scaled to a length",
                (long long)r);
        }
        made->scale[r] = magnitude / made->scale[r];
        made->shift[r] *= 1.0F - made->scale[r];
    }
    return GRAFT_OK;
}

int lora_magnitude_make(const struct graft_product *base, const struct lora_delta *delta, const struct graft_weight *m,
                        const struct graft_threads *threads, const char *path, struct lora_magnitude *made,
                        struct graft_error *error) {
    const int64_t rows = delta->b.rows, end = delta->first + rows;
    const int64_t units = (end - 1) / ROWS - delta->first / ROWS + 1;
    struct work work = {.base = base, .delta = delta};
    int failed = lora_delta_open(delta, &work.a) != 0;
    *made = (struct lora_magnitude){malloc((size_t)rows * sizeof(float)), malloc((size_t)rows * sizeof(float))};
    work.norms = made->scale;
    work.bias = made->shift;
    if (!failed && made->scale != NULL && made->shift != NULL) {
        threads->parallel_for(units, 1, find_norms, &work);
        failed = atomic_load(&work.failed);
    }
    lora_columns_finish(&work.a);
    return failed || made->scale == NULL || made->shift == NULL ? graft_fail_memory(error, path)
                                                                : divide(m, rows, made, path, error);
}

int lora_magnitude_of_bias(const struct graft_weight *bias, float factor, const char *path, struct lora_magnitude *made,
                           struct graft_error *error) {
    const size_t rows = (size_t)bias->rows;
    *made = (struct lora_magnitude){malloc(rows * sizeof(float)), malloc(rows * sizeof(float))};
    if (made->scale == NULL || made->shift == NULL) {
        return graft_fail_memory(error, path);
    }
    for (int64_t r = 0; r < bias->rows; r++) {
        lora_read_row(bias, r, &made->shift[r]);
        made->scale[r] = 1.0F;
        made->shift[r] *= factor;
    }
    return GRAFT_OK;
}

void lora_magnitude_finish(struct lora_magnitude *magnitude) {
    free(magnitude->scale);
    free(magnitude->shift);
    *magnitude = (struct lora_magnitude){NULL, NULL};
}

void lora_magnitude_apply(const struct lora_magnitude *magnitude, int64_t begin, int64_t end, float *y) {
    for (int64_t i = begin; i < end; i++) {
        y[i - begin] = y[i - begin] * magnitude->scale[i] + magnitude->shift[i];
    }
}

struct apply {
    const struct lora_magnitude *magnitude;
    const struct lora_rows *rows;
    int64_t outputs;
    int64_t stride;
    float *y;
};

static void apply_rows(void *data, int64_t begin, int64_t end) {
    const struct apply *apply = data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = apply->rows->index != NULL ? apply->rows->index[i] : i;
        lora_magnitude_apply(apply->magnitude, 0, apply->outputs, apply->y + row * apply->stride);
    }
}

void lora_magnitude_apply_rows(const struct lora_magnitude *magnitude, const struct graft_call *call,
                               const struct lora_rows *rows, int64_t outputs, int64_t stride, float *y) {
    enum { RUN = 1 << 14 }; /* for fewer numbers another thread is not worth starting */
    struct apply apply = {magnitude, rows, outputs, stride, y};
    call->threads->parallel_for(rows->n, 1 + RUN / (outputs + 1), apply_rows, &apply);
}
