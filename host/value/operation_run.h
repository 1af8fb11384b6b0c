/* SPDX-License-Identifier: Apache-2.0 */
/* One running operation of a chain. Used in this folder only. */
#ifndef GRAFT_VALUE_OPERATION_RUN_H
#define GRAFT_VALUE_OPERATION_RUN_H

#include "value/operations.h"

/* Lists of values, each with the name of its source or target. */
struct operation_lists {
    struct graft_value_list *items;
    const char **names;
    size_t count;
};

struct operation_run {
    const struct graft_operations *operations;
    int32_t index; /* index of the operation that runs */
    const struct graft_operation *operation;
    enum graft_operation_fault *fault;
    struct graft_error *error;
};

/* Records a fault, if it is the first one. Returns the status. */
int graft_operation_failed(const struct operation_run *run, enum graft_operation_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int graft_operation_no_memory(const struct operation_run *run);

/* Resolves a negative `dim` of a value of that rank. A dimension out of range is recorded as a fault, and -1 is
 * returned. */
int64_t graft_operation_dim(const struct operation_run *run, int64_t dim, const struct graft_value *value);

/* Makes `count` empty lists without names. Returns 0, or -1 if memory ran out; the caller frees the lists either
 * way. */
int graft_operation_lists_init(struct operation_lists *lists, size_t count);
void graft_operation_lists_free(struct operation_lists *lists);

/* Allocates `count` zeroed values in an empty list. */
int graft_operation_list_room(struct graft_value_list *list, size_t count);

/* The operations that join values or cut them: from `in` to `out`, which is empty. */
int graft_operation_concatenate(const struct operation_run *run, const struct operation_lists *in,
                                struct operation_lists *out);
int graft_operation_cut(const struct operation_run *run, const struct operation_lists *in, struct operation_lists *out);
int graft_operation_merge_modulelist(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out);
int graft_operation_split_modulelist(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out);
int graft_operation_fuse_experts(const struct operation_run *run, const struct operation_lists *in,
                                 struct operation_lists *out);
int graft_operation_decouple_experts(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out);
int graft_operation_custom(const struct operation_run *run, const struct operation_lists *in,
                           struct operation_lists *out);

/* The operations that change each value on its own. */
int graft_operation_each(const struct operation_run *run, const char *name, struct graft_value *value);

/* The shape of target number `target` right after the running operation, derived from the parameter's shape backwards
 * through the operations that follow. Returns the rank, or -1 if the shape is unknown; an unknown size is -1. */
int32_t graft_operation_target_shape(const struct operation_run *run, int32_t target, int64_t shape[GRAFT_MAX_RANK]);

#endif
