/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>

#include "loops.h"

static int infer(const struct graft_custom_operation *self, const struct graft_value_info *inputs, int32_t n_inputs,
                 struct graft_value_info *outputs, int32_t n_outputs, struct graft_error *error) {
    if (n_inputs != 1 || n_outputs != 2) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 2 targets, got %d and %d",
                               (int)n_inputs, (int)n_outputs);
    }
    if (inputs[0].rank != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "expected a matrix, got %d dimensions",
                               (int)inputs[0].rank);
    }
    outputs[0].dtype = GRAFT_DTYPE_I8;
    outputs[0].rank = 2;
    outputs[0].shape[0] = inputs[0].shape[0];
    outputs[0].shape[1] = inputs[0].shape[1];
    outputs[1].dtype = GRAFT_DTYPE_F32;
    outputs[1].rank = 1;
    outputs[1].shape[0] = inputs[0].shape[0];
    return GRAFT_OK;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const struct int8_loops *loops = int8_loops_get();
    int64_t columns = work->inputs[0].shape[1];
    const float *rows = work->from[0]; /* [end - begin, columns] */
    int8_t *quantized = work->to[0];   /* [end - begin, columns] */
    float *scales = work->to[1];       /* [end - begin] */
    for (int64_t r = 0; r < work->end - work->begin; r++) {
        float largest = loops->largest(rows + r * columns, columns);
        float factor = 127.0F / largest;
        if (!isfinite(largest)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "row %lld has a weight that is not finite",
                                   (long long)(work->begin + r));
        }
        if (!isfinite(factor)) { /* zeros, or so small that f32 has no factor for them: below 4e-37 */
            factor = 0.0F;
            largest = 0.0F;
        }
        loops->quantize(rows + r * columns, columns, factor, quantized + r * columns);
        scales[r] = largest / 127.0F;
    }
    return GRAFT_OK;
}

const struct graft_custom_operation int8_quantize_rows = {
    .struct_size = sizeof int8_quantize_rows,
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32,
    .name = "int8_rows",
    .infer = infer,
    .apply = apply,
};
