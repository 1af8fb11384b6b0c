/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on whole rows: looking them up, moving and adding them, and widening a weight. */
#include <string.h>

#include "kernels/blocks.h"
#include "kernels/coded/weight.h"
#include "kernels/loops.h"
#include "kernels/table.h"

struct row_work {
    const struct graft_loops *loops;
    const struct graft_weight *weight; /* [.., columns] */
    const float *x;                    /* [rows, columns] */
    const float *scale;                /* [rows] */
    const int32_t *index;              /* [rows] */
    int64_t columns;
    float *y; /* [rows, columns] */
};

static void embed_rows(void *data, int64_t begin, int64_t end) {
    const struct row_work *work = (const struct row_work *)data;
    const struct graft_coded_weight *coded = graft_coded_weight_of(work->weight);
    for (int64_t i = begin; i < end; i++) {
        if (coded != NULL) {
            coded->codec.read_rows(work->weight, work->index[i], 1, work->y + i * work->columns);
            continue;
        }
        struct graft_row_run run = graft_weight_run(work->weight, work->index[i], 1);
        work->loops->widen(graft_reading_of(run.dtype), run.data, work->columns, work->y + i * work->columns);
    }
}

int graft_embedding(const struct graft_call *call, const struct graft_weight *weight, const int32_t *ids,
                    int64_t tokens, float *y, struct graft_error *error) {
    int status = graft_check_types(weight, "weight", error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct row_work work = {graft_loops_get(), weight, NULL, NULL, ids, weight->columns, y};
    call->threads->parallel_for(tokens, graft_grain_rows(work.columns), embed_rows, &work);
    return GRAFT_OK;
}

static void copy_rows(void *data, int64_t begin, int64_t end) {
    const struct row_work *work = (const struct row_work *)data;
    for (int64_t i = begin; i < end; i++) {
        memcpy(work->y + i * work->columns, work->x + work->index[i] * work->columns,
               (size_t)work->columns * sizeof(float));
    }
}

int graft_gather_rows(const struct graft_call *call, const float *x, const int32_t *index, int64_t rows,
                      int64_t columns, float *y, struct graft_error *error) {
    (void)error;
    struct row_work work = {graft_loops_get(), NULL, x, NULL, index, columns, y};
    call->threads->parallel_for(rows, graft_grain_rows(columns), copy_rows, &work);
    return GRAFT_OK;
}

static void add_rows(void *data, int64_t begin, int64_t end) {
    const struct row_work *work = (const struct row_work *)data;
    for (int64_t i = begin; i < end; i++) {
        work->loops->add_scaled(work->y + work->index[i] * work->columns, work->scale[i], work->x + i * work->columns,
                                work->columns);
    }
}

int graft_scatter_add_rows(const struct graft_call *call, const float *x, const float *scale, const int32_t *index,
                           int64_t rows, int64_t columns, float *y, struct graft_error *error) {
    (void)error;
    struct row_work work = {graft_loops_get(), NULL, x, scale, index, columns, y};
    call->threads->parallel_for(rows, graft_grain_rows(columns), add_rows, &work);
    return GRAFT_OK;
}

static void widen_rows(void *data, int64_t begin, int64_t end) {
    const struct row_work *work = (const struct row_work *)data;
    const struct graft_coded_weight *coded = graft_coded_weight_of(work->weight);
    if (coded != NULL) {
        coded->codec.read_rows(work->weight, begin, end - begin, work->y + begin * work->columns);
        return;
    }
    while (begin < end) {
        struct graft_row_run run = graft_weight_run(work->weight, begin, end - begin);
        if (run.rows == 0) {
            return;
        }
        work->loops->widen(graft_reading_of(run.dtype), run.data, run.rows * work->columns,
                           work->y + begin * work->columns);
        begin += run.rows;
    }
}

int graft_widen(const struct graft_call *call, const struct graft_weight *weight, float *out,
                struct graft_error *error) {
    int status = graft_check_types(weight, "weight", error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct row_work work = {graft_loops_get(), weight, NULL, NULL, NULL, weight->columns, out};
    call->threads->parallel_for(weight->rows, graft_grain_rows(work.columns), widen_rows, &work);
    return GRAFT_OK;
}
