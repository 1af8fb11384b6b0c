/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/quantizer.h"

#include <string.h>

/* Elements of the types that codes and scales have. */
static int64_t size_of(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_I32 ? 4 : dtype == GRAFT_DTYPE_BF16 ? 2 : 1;
}

static void set_shape(struct graft_value_info *value, const struct graft_value_info *like, graft_dtype dtype,
                      int64_t columns) {
    value->dtype = dtype;
    value->rank = like->rank;
    memcpy(value->shape, like->shape, sizeof value->shape);
    value->shape[like->rank - 1] = columns;
}

int graft_quantizer_infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                          struct graft_error *error) {
    const struct graft_quantizer *quantizer = self->data;
    const struct graft_value_info *input = shapes->inputs;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 2 targets, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    if (input->rank != 2 && input->rank != 3) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name,
                               "expected a matrix or a stack of them, got %d dimensions", (int)input->rank);
    }
    const int64_t columns = input->shape[input->rank - 1], groups = graft_quantizer_groups(quantizer, columns);
    struct graft_value_info *scales = graft_custom_output(shapes, 1);
    set_shape(graft_custom_output(shapes, 0), input, quantizer->code_dtype,
              graft_quantizer_elements(quantizer, columns));
    set_shape(scales, input, quantizer->scale_dtype, groups);
    scales->rank -= quantizer->vectors && groups == 1 && input->rank == 2;
    return GRAFT_OK;
}

int graft_quantizer_apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                          struct graft_error *error) {
    const struct graft_quantizer *quantizer = self->data;
    const struct graft_value_info *input = work->inputs;
    const int64_t depth = input->rank == 3 ? input->shape[1] : 1, columns = input->shape[input->rank - 1];
    const int64_t rows = (work->end - work->begin) * depth, group_size = quantizer->group_size(columns);
    const int64_t row_bytes = graft_quantizer_elements(quantizer, columns) * size_of(quantizer->code_dtype);
    const float *weights = work->from[0];
    char *codes = work->to[0], *scales = work->to[1];
    memset(codes, 0, (size_t)(rows * row_bytes));
    for (int64_t row = 0; row < rows; row++, weights += columns, codes += row_bytes) {
        for (int64_t first = 0; first < columns; first += group_size, scales += size_of(quantizer->scale_dtype)) {
            const int64_t n = columns - first < group_size ? columns - first : group_size;
            if (!quantizer->quantize(weights + first, n, first, codes, scales)) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "row %lld has a weight that is not finite",
                                       (long long)(work->begin * depth + row));
            }
        }
    }
    return GRAFT_OK;
}
