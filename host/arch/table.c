/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/table.h"

#include "graft/describe.h"

int graft_table_describe(const struct graft_sink *sink, const char *name, const char *class_name, int64_t rows,
                         int64_t width, struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", rows), graft_int_arg("embedding_dim", width)};
    return graft_describe_child(sink, name, class_name, GRAFT_INTERFACE_EMBEDDING, args, 2, error);
}

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
