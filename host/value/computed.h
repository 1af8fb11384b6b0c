/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that custom operations compute while a model is bound. */
#ifndef GRAFT_VALUE_COMPUTED_H
#define GRAFT_VALUE_COMPUTED_H

#include "graft/custom_operation.h"
#include "value/value.h"

/* One use of a custom operation. Values made of its outputs have parts that point to `outputs`. */
struct graft_computed {
    const struct graft_custom_operation *operation;
    const char *plugin;         /* id of the plugin that has the operation; NULL: the host */
    const char *place;          /* path of the module whose conversion uses it; the tree's string */
    struct graft_value *inputs; /* [n_inputs] */
    struct graft_value_info *input_infos;
    int32_t n_inputs;
    struct graft_tensor_view *outputs; /* [n_outputs]; `data` is set while binding */
    struct graft_value_info *output_infos;
    int32_t n_outputs;
    int32_t from_tied; /* 1: another parameter holds the inputs as well, so that they are not lost */
    int64_t output_bytes;
    int64_t scratch_bytes; /* the most memory that applying it takes besides the outputs */
};

/* [load] Plans a use of `operation`: results[i] becomes all of output i. `values` are copied. On failure nothing is
 * allocated. */
int graft_computed_make(const struct graft_custom_operation *operation, const char *plugin, const char *place,
                        const struct graft_value *const *values, size_t n, struct graft_value *results,
                        size_t n_results, struct graft_computed **computed, struct graft_error *error);
void graft_computed_free(struct graft_computed *computed);

/* [any] How many rows (indices of the first dimension) one call of the operation works on; without GRAFT_CUSTOM_ROWS
 * all rows of the first input, since one call then does everything. */
int64_t graft_computed_rows_at_once(const struct graft_computed *computed);

/* [any] How many rows of input `i` a call on `rows` rows reads: as many, or all rows of the input without
 * GRAFT_CUSTOM_ROWS. */
int64_t graft_computed_input_rows(const struct graft_computed *computed, int32_t i, int64_t rows);

#endif
