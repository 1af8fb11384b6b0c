/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that custom operations make while a model is bound. */
#ifndef GRAFT_VALUE_COMPUTED_H
#define GRAFT_VALUE_COMPUTED_H

#include "graft/custom_operation.h"
#include "value/value.h"

/* One use of a custom operation. Values made of its outputs have parts of `outputs`. */
struct graft_computed {
    const struct graft_custom_operation *operation;
    const char *plugin;         /* whose it is; NULL: the host's */
    const char *place;          /* path of the module whose conversion it is; the tree's */
    struct graft_value *inputs; /* [n_inputs] */
    struct graft_value_info *input_infos;
    int32_t n_inputs;
    struct graft_tensor_view *outputs; /* [n_outputs]; `data` is set while binding */
    struct graft_value_info *output_infos;
    int32_t n_outputs;
    int32_t from_tied; /* 1: its inputs are another parameter's as well, so they are not lost */
    int64_t output_bytes;
    int64_t scratch_bytes; /* that applying it takes at most, beside the outputs */
};

/* [load] Plans a use of `operation`: results[i] becomes the whole of output i. `values` are copied. On failure nothing
 * is left behind. */
int graft_computed_make(const struct graft_custom_operation *operation, const char *plugin, const char *place,
                        const struct graft_value *const *values, size_t n, struct graft_value *results,
                        size_t n_results, struct graft_computed **computed, struct graft_error *error);
void graft_computed_free(struct graft_computed *computed);

/* [any] How many rows (indices of the first dimension) of its values are worked on at a time; without
 * GRAFT_CUSTOM_ROWS those of the first input, which stand for everything. */
int64_t graft_computed_rows_at_once(const struct graft_computed *computed);

/* [any] How many rows of input `i` a call reads that works on `rows` rows: as many, or, without GRAFT_CUSTOM_ROWS, all
 * that this input has. */
int64_t graft_computed_input_rows(const struct graft_computed *computed, int32_t i, int64_t rows);

#endif
