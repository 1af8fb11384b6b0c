/* SPDX-License-Identifier: Apache-2.0 */
#include "magnitude.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

struct work {
    const struct graft_product *original;
    const struct lora_delta *delta;
    struct lora_columns a;
    float *norms; /* [rows] */
    atomic_int failed;
};

static void find_norms(void *data, int64_t begin, int64_t end) {
    struct work *work = data;
    float *row = lora_sum_room(&work->a);
    if (row == NULL) {
        atomic_store(&work->failed, 1);
        return;
    }
    for (int64_t r = begin; r < end; r++) {
        double sum = 0.0;
        lora_sum_row(work->original, work->delta, &work->a, r, row);
        for (int64_t c = 0; c < work->a.out_features; c++) {
            sum += (double)row[c] * row[c];
        }
        work->norms[r] = (float)sqrt(sum);
    }
    free(row);
}

static int are_floats(const struct graft_product *original, const struct lora_delta *delta,
                      const struct graft_weight *m) {
    return original != NULL && lora_are_floats(original->weight) && lora_are_floats(delta->a.weight) &&
           lora_are_floats(delta->b.weight) && lora_are_floats(m);
}

/* Norms become what they are to be scaled by. */
static int divide(const struct graft_weight *m, int64_t rows, float *scale, const char *path,
                  struct graft_error *error) {
    for (int64_t r = 0; r < rows; r++) {
        float magnitude = 0.0F;
        lora_read_row(m, r, &magnitude);
        if (!(scale[r] > 0.0F)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                   "use_dora: row %lld of the adapted weight is 0, and no length can be given to it",
                                   (long long)r);
        }
        scale[r] = magnitude / scale[r];
    }
    return GRAFT_OK;
}

static void find_shift(const struct graft_product *original, int64_t first, int64_t rows, struct lora_magnitude *made) {
    for (int64_t r = 0; r < rows; r++) {
        float bias = 0.0F;
        lora_read_row(original->bias, original->first_row + first + r, &bias);
        made->shift[r] = (1.0F - made->scale[r]) * bias;
    }
}

int lora_magnitude_make(const struct graft_product *original, const struct lora_delta *delta,
                        const struct graft_weight *m, const struct graft_threads *threads, const char *path,
                        struct lora_magnitude *made, struct graft_error *error) {
    const int64_t rows = delta->b.rows;
    *made = (struct lora_magnitude){NULL, NULL};
    if (!are_floats(original, delta, m)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "use_dora: the weight is not of floats, so the norms of its rows are not known");
    }
    const int has_bias = original->bias != NULL && lora_are_floats(original->bias);
    struct work work = {.original = original, .delta = delta};
    int failed = lora_delta_open(delta, &work.a) != 0;
    work.norms = made->scale = malloc((size_t)rows * sizeof *made->scale);
    made->shift = has_bias ? malloc((size_t)rows * sizeof *made->shift) : NULL;
    failed = failed || made->scale == NULL || (has_bias && made->shift == NULL);
    if (!failed) {
        threads->parallel_for(rows, 16, find_norms, &work);
        failed = atomic_load(&work.failed);
    }
    lora_columns_finish(&work.a);
    int status = failed ? graft_fail_memory(error, path) : divide(m, rows, made->scale, path, error);
    if (status == GRAFT_OK && has_bias) {
        find_shift(original, delta->first, rows, made);
    }
    return status;
}

void lora_magnitude_finish(struct lora_magnitude *magnitude) {
    free(magnitude->scale);
    free(magnitude->shift);
    *magnitude = (struct lora_magnitude){NULL, NULL};
}

void lora_magnitude_apply(const struct lora_magnitude *magnitude, int64_t begin, int64_t end, float *y) {
    for (int64_t i = begin; i < end; i++) {
        y[i - begin] *= magnitude->scale[i];
    }
    for (int64_t i = begin; magnitude->shift != NULL && i < end; i++) {
        y[i - begin] += magnitude->shift[i];
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
    enum { RUN = 1 << 14 }; /* fewer numbers are done before another thread has begun */
    struct apply apply = {magnitude, rows, outputs, stride, y};
    call->threads->parallel_for(rows->n, 1 + RUN / (outputs + 1), apply_rows, &apply);
}
