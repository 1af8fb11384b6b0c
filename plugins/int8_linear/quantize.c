/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>

#include "loops.h"

static int64_t group_size;

void int8_set_group_size(int64_t columns) {
    group_size = columns;
}

int64_t int8_groups(int64_t columns) {
    return group_size > 0 && columns % group_size == 0 ? columns / group_size : 1;
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *input = shapes->inputs;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 2 targets, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    if (input->rank != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "expected a matrix, got %d dimensions",
                               (int)input->rank);
    }
    struct graft_value_info *matrix = graft_custom_output(shapes, 0);
    struct graft_value_info *scales = graft_custom_output(shapes, 1);
    matrix->dtype = GRAFT_DTYPE_I8;
    matrix->rank = 2;
    matrix->shape[0] = input->shape[0];
    matrix->shape[1] = input->shape[1];
    scales->dtype = GRAFT_DTYPE_F32;
    scales->rank = int8_groups(input->shape[1]) > 1 ? 2 : 1;
    scales->shape[0] = input->shape[0];
    scales->shape[1] = int8_groups(input->shape[1]);
    return GRAFT_OK;
}

/* The groups of a row lie one behind the other, and rows as well. */
static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const struct int8_loops *loops = int8_loops_get();
    int64_t groups = int8_groups(work->inputs[0].shape[1]);
    int64_t width = work->inputs[0].shape[1] / groups;
    const float *weights = work->from[0]; /* [end - begin, groups, width] */
    int8_t *quantized = work->to[0];      /* [end - begin, groups, width] */
    float *scales = work->to[1];          /* [end - begin, groups] */
    for (int64_t i = 0; i < (work->end - work->begin) * groups; i++) {
        float largest = loops->largest(weights + i * width, width);
        float factor = 127.0F / largest;
        if (!isfinite(largest)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "row %lld has a weight that is not finite",
                                   (long long)(work->begin + i / groups));
        }
        if (!isfinite(factor)) { /* zeros, or so small that f32 has no factor for them: below 4e-37 */
            factor = 0.0F;
            largest = 0.0F;
        }
        loops->quantize(weights + i * width, width, factor, quantized + i * width);
        scales[i] = largest / 127.0F;
    }
    return GRAFT_OK;
}

const struct graft_custom_operation int8_quantize_rows = {
    .struct_size = sizeof int8_quantize_rows,
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY,
    .name = "int8_rows",
    .infer = infer,
    .apply = apply,
};
