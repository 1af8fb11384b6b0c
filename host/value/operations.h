/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the operations of a conversion on values, wherever the conversion comes from: a class, a model-wide list, a
 * patch file, a test. What they need to know of their surroundings they ask through functions, so no tree, plan or
 * checkpoint is needed.
 */
#ifndef GRAFT_VALUE_OPERATIONS_H
#define GRAFT_VALUE_OPERATIONS_H

#include "base/text.h"
#include "graft/conversion.h"
#include "value/value.h"

/* Why operations could not be run; the error says it in words. */
enum graft_operation_fault {
    GRAFT_FAULT_NONE,
    GRAFT_FAULT_MEMORY,
    GRAFT_FAULT_NO_OPERATIONS,       /* graft_operations_check */
    GRAFT_FAULT_MANY_TO_MANY,        /* graft_operations_check */
    GRAFT_FAULT_UNDEFINED_OPERATION, /* an operation that cannot have so many sources or targets */
    GRAFT_FAULT_SOURCE_ABSENT,       /* a source without a tensor */
    GRAFT_FAULT_SINGLE_EXPECTED,     /* several tensors where one is wanted */
    GRAFT_FAULT_CONCAT_SHAPE,
    GRAFT_FAULT_CONCAT_RANK,
    GRAFT_FAULT_STACK_SHAPE,
    GRAFT_FAULT_SPLIT_SIZES,
    GRAFT_FAULT_DIM_OUT_OF_RANGE,
    GRAFT_FAULT_RESHAPE,
    GRAFT_FAULT_RANK,
    GRAFT_FAULT_NO_SUCH_PARAMETER,
    GRAFT_FAULT_NO_SUCH_ATTRIBUTE, /* of the config */
    GRAFT_FAULT_CUSTOM             /* a custom operation is unknown, or refused */
};

/* A conversion in its surroundings. `data` is given to the functions; each of them may be NULL, for one that never has
 * an answer. */
struct graft_operations {
    const struct graft_operation *items; /* readable through graft_operations_at */
    int32_t count;
    uint32_t stride;
    const char *place;          /* what errors name: a module's path */
    const char *const *sources; /* [number of lists given]: names, for PermuteForRope and messages */
    const char *const *targets; /* [n_targets] */
    int32_t n_targets;
    void *data;
    /* The shape of a target's parameter (of index 0, if the target has a `*`). Returns its rank, -1 when there is no
     * such parameter. */
    int32_t (*target_shape)(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]);
    /* A number in the config's part called `part`; in all of it when `part` is NULL or the config has no such part.
     * Returns 0, -1 when there is no such number. */
    int (*config_number)(void *data, const char *part, const char *field, int64_t *number);
    /* A custom operation on one value per list. Makes one value per target; on failure none. */
    int (*custom)(void *data, const struct graft_operation *operation, const struct graft_value *const *values,
                  size_t n, struct graft_value *results, struct graft_error *error);
    /* Takes note of elements that a Slice drops. */
    void (*drop)(void *data, const struct graft_value *dropped);
};

/* [load] Runs the operations on `*lists`: one list of values per source, in the sources' order; a `*` source's values
 * in the order of their indices. On success they are one list per target. The lists are consumed: on success and on
 * failure the caller frees what `*lists` and `*n_lists` then say (each with graft_value_list_free, the array with
 * graft_free). A failure is GRAFT_ERROR_MODEL when tensors do not fit the operations, GRAFT_ERROR_PLUGIN when the
 * operations do not fit the conversion; `*fault` (may be NULL) says which. */
int graft_operations_run(const struct graft_operations *operations, struct graft_value_list **lists, size_t *n_lists,
                         enum graft_operation_fault *fault, struct graft_error *error);

static inline const struct graft_operation *graft_operations_at(const struct graft_operations *operations, int32_t i) {
    const char *at = (const char *)operations->items + (size_t)i * operations->stride;
    return (const struct graft_operation *)(const void *)at;
}

/* [any] Whether operations make sense for so many sources, and `n_targets`, as transformers' WeightConverter has it:
 * there are some, and from several sources to several targets only with one that can do that. Of `operations` the
 * functions are not called. */
int graft_operations_check(const struct graft_operations *operations, int32_t n_sources,
                           enum graft_operation_fault *fault, struct graft_error *error);

/* [any] "Concatenate"; "?" for a number that names no operation. And back: 0 for an unknown name. */
const char *graft_operation_name(int32_t kind);
int32_t graft_operation_kind(const char *name);

/* [any] Adds the names of all built-in ones, divided by commas. */
void graft_operation_add_names(struct graft_text *text);

/* [any] Adds "Concatenate(dim=1)"; of a custom one its name. */
void graft_operation_describe(const struct graft_operation *operation, struct graft_text *text);

#endif
