/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/table.h"

float *graft_table_read(const struct graft_module *embedding, const struct graft_call *call, int64_t rows,
                        int64_t width, struct graft_error *error) {
    int32_t *ids = graft_scratch_ints(call, rows, error);
    float *table = graft_scratch_floats(call, rows, width, error);
    if (ids == NULL || table == NULL) {
        return NULL;
    }
    for (int64_t i = 0; i < rows; i++) {
        ids[i] = (int32_t)i;
    }
    const struct graft_embedding_args args = {sizeof args, 0, rows, ids, table};
    return graft_embedding_forward(embedding, call, &args, error) == GRAFT_OK ? table : NULL;
}
