/* SPDX-License-Identifier: Apache-2.0 */
/* One operation of a chain at work. Shared by the units of this folder only. */
#ifndef GRAFT_VALUE_OPERATION_RUN_H
#define GRAFT_VALUE_OPERATION_RUN_H

#include "value/operations.h"

/* Lists of values, and the name (a source's or a target's) that each goes by. */
struct operation_lists {
    struct graft_value_list *items;
    const char **names;
    size_t count;
};

struct operation_run {
    const struct graft_operations *operations;
    int32_t index; /* of the operation at hand */
    const struct graft_operation *operation;
    enum graft_operation_fault *fault;
    struct graft_error *error;
};

/* Records a fault; the first one stays. Returns the status. */
int graft_operation_failed(const struct operation_run *run, enum graft_operation_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int graft_operation_no_memory(const struct operation_run *run);

/* `dim` of a value of that rank, from 0 on; -1 recorded as a fault when it is outside. */
int64_t graft_operation_dim(const struct operation_run *run, int64_t dim, const struct graft_value *value);

/* `count` empty lists without names. Returns 0, or -1 if memory ran out; the caller frees them in any case. */
int graft_operation_lists_init(struct operation_lists *lists, size_t count);
void graft_operation_lists_free(struct operation_lists *lists);

/* Room for `count` values, zeroed, in a list that has none. */
int graft_operation_list_room(struct graft_value_list *list, size_t count);

/* The operations that join and cut: from `in` to `out`, which is empty. */
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

/* The shape that target number `target` has right behind the operation at hand, before those that follow: its
 * parameter's, led back through them. Returns the rank, -1 when it is not known; -1 is a size that is not known. */
int32_t graft_operation_target_shape(const struct operation_run *run, int32_t target, int64_t shape[GRAFT_MAX_RANK]);

#endif
