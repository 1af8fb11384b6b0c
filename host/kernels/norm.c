/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/blocks.h"
#include "kernels/loops.h"
#include "kernels/table.h"

struct norm {
    const struct graft_loops *loops;
    const void *weight; /* [columns] */
    int32_t reading;
    float offset;
    float eps;
    const float *x; /* [tokens, columns] */
    int64_t x_stride;
    int64_t columns;
    float *y; /* [tokens, columns] */
    int64_t y_stride;
};

static void norm_rows(void *data, int64_t begin, int64_t end) {
    const struct norm *norm = (const struct norm *)data;
    for (int64_t t = begin; t < end; t++) {
        const float *x = norm->x + t * norm->x_stride;
        float mean = norm->loops->sum_of_squares(x, norm->columns) / (float)norm->columns;
        float factor = 1.0f / sqrtf(mean + norm->eps);
        norm->loops->scale_by(norm->reading, norm->weight, norm->offset, x, factor, norm->columns,
                              norm->y + t * norm->y_stride);
    }
}

int graft_rms_norm(const struct graft_call *call, const struct graft_weight *weight, float offset, float eps,
                   const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y, int64_t y_stride,
                   struct graft_error *error) {
    int status = graft_check_types(weight, "weight", error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_row_block *block = graft_weight_block(weight, 0);
    struct norm norm = {
        graft_loops_get(), block->data, graft_reading_of(block->dtype), offset, eps, x, x_stride, columns, y, y_stride};
    call->threads->parallel_for(tokens, graft_grain_rows(columns), norm_rows, &norm);
    return GRAFT_OK;
}

struct layer_norm {
    const struct graft_loops *loops;
    const void *weight; /* [columns] */
    const void *bias;   /* [columns]; NULL: none */
    int32_t reading_weight;
    int32_t reading_bias;
    float eps;
    const float *x; /* [tokens, columns] */
    int64_t x_stride;
    int64_t columns;
    float *y; /* [tokens, columns] */
    int64_t y_stride;
};

static void layer_norm_rows(void *data, int64_t begin, int64_t end) {
    const struct layer_norm *norm = (const struct layer_norm *)data;
    const struct graft_loops *loops = norm->loops;
    for (int64_t t = begin; t < end; t++) {
        const float *x = norm->x + t * norm->x_stride;
        float *y = norm->y + t * norm->y_stride;
        float mean = loops->sum(x, norm->columns) / (float)norm->columns;
        float variance = loops->centre(x, mean, norm->columns, y) / (float)norm->columns;
        float factor = 1.0f / sqrtf(variance + norm->eps);
        loops->scale_by(norm->reading_weight, norm->weight, 0.0f, y, factor, norm->columns, y);
        if (norm->bias != NULL) {
            loops->add_stored(norm->reading_bias, norm->bias, norm->columns, y);
        }
    }
}

int graft_layer_norm(const struct graft_call *call, const struct graft_weight *weight, const struct graft_weight *bias,
                     float eps, const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y,
                     int64_t y_stride, struct graft_error *error) {
    int status = graft_check_types(weight, "weight", error);
    if (status == GRAFT_OK && bias != NULL) {
        status = graft_check_types(bias, "bias", error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_row_block *scales = graft_weight_block(weight, 0);
    const struct graft_row_block *shifts = bias != NULL ? graft_weight_block(bias, 0) : NULL;
    struct layer_norm norm = {
        .loops = graft_loops_get(),
        .weight = scales->data,
        .bias = shifts != NULL ? shifts->data : NULL,
        .reading_weight = graft_reading_of(scales->dtype),
        .reading_bias = shifts != NULL ? graft_reading_of(shifts->dtype) : 0,
        .eps = eps,
        .x = x,
        .x_stride = x_stride,
        .columns = columns,
        .y = y,
        .y_stride = y_stride,
    };
    call->threads->parallel_for(tokens, graft_grain_rows(columns), layer_norm_rows, &norm);
    return GRAFT_OK;
}
