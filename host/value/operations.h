/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the operations of a conversion on values, whether the conversion comes from a class, a model-wide list, a patch
 * file or a test. Operations learn about the model through callbacks, so they need no tree, plan or checkpoint.
 */
#ifndef GRAFT_VALUE_OPERATIONS_H
#define GRAFT_VALUE_OPERATIONS_H

#include "base/text.h"
#include "graft/conversion.h"
#include "value/value.h"

/* Why operations could not run; the error's message says it in words. */
enum graft_operation_fault {
    GRAFT_FAULT_NONE,
    GRAFT_FAULT_MEMORY,
    GRAFT_FAULT_NO_OPERATIONS,       /* graft_operations_check */
    GRAFT_FAULT_MANY_TO_MANY,        /* graft_operations_check */
    GRAFT_FAULT_UNDEFINED_OPERATION, /* the operation does not allow that number of sources or targets */
    GRAFT_FAULT_SOURCE_ABSENT,       /* a source has no tensor */
    GRAFT_FAULT_SINGLE_EXPECTED,     /* several tensors where one is expected */
    GRAFT_FAULT_CONCAT_SHAPE,
    GRAFT_FAULT_CONCAT_RANK,
    GRAFT_FAULT_STACK_SHAPE,
    GRAFT_FAULT_SPLIT_SIZES,
    GRAFT_FAULT_DIM_OUT_OF_RANGE,
    GRAFT_FAULT_RESHAPE,
    GRAFT_FAULT_RANK,
    GRAFT_FAULT_NO_SUCH_PARAMETER,
    GRAFT_FAULT_NO_SUCH_ATTRIBUTE, /* the config lacks a field */
    GRAFT_FAULT_CUSTOM             /* a custom operation is unknown, or failed */
};

/* A conversion and the callbacks that tell it about the model. `data` is passed to each callback. A callback may be
 * NULL, which counts as one that never has an answer. */
struct graft_operations {
    const struct graft_operation *items; /* read elements with graft_operations_at */
    int32_t count;
    uint32_t stride;
    const char *place;          /* module path, for errors */
    const char *const *sources; /* [number of lists given]: names, for PermuteForRope and messages */
    const char *const *targets; /* [n_targets] */
    int32_t n_targets;
    void *data;
    /* The shape of a target's parameter (of index 0 if the target has a `*`). Returns its rank, or -1 if there is no
     * such parameter. */
    int32_t (*target_shape)(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]);
    /* A number in the section `part` of the config, or in the whole config if `part` is NULL or absent. Returns 0, or
     * -1 if there is no such number. */
    int (*config_number)(void *data, const char *part, const char *field, int64_t *number);
    /* Runs a custom operation on one value per list. Makes one value per target, or none on failure. */
    int (*custom)(void *data, const struct graft_operation *operation, const struct graft_value *const *values,
                  size_t n, struct graft_value *results, struct graft_error *error);
    /* Called with the elements that a Slice drops. */
    void (*drop)(void *data, const struct graft_value *dropped);
};

/* [load] Runs the operations on `*lists`: one list of values per source, in the order of the sources; the values of a
 * `*` source are in the order of their indices. On success `*lists` has one list per target. On success and on failure
 * the caller frees the lists that `*lists` and `*n_lists` then describe (each with graft_value_list_free, the array
 * with graft_free). The status is GRAFT_ERROR_MODEL if tensors do not fit the operations, and GRAFT_ERROR_PLUGIN if the
 * operations do not fit the conversion; `*fault` (may be NULL) says which fault it was. */
int graft_operations_run(const struct graft_operations *operations, struct graft_value_list **lists, size_t *n_lists,
                         enum graft_operation_fault *fault, struct graft_error *error);

static inline const struct graft_operation *graft_operations_at(const struct graft_operations *operations, int32_t i) {
    const char *at = (const char *)operations->items + (size_t)i * operations->stride;
    return (const struct graft_operation *)(const void *)at;
}

/* [any] Checks operations against their numbers of sources and targets, by the rules of transformers' WeightConverter:
 * there is at least one operation, and only certain operations have several sources and several targets. The callbacks
 * of `operations` are not called. */
int graft_operations_check(const struct graft_operations *operations, int32_t n_sources,
                           enum graft_operation_fault *fault, struct graft_error *error);

/* [any] The name of an operation, such as "Concatenate", or "?" for an unknown kind; and the kind of a name, or 0 for
 * an unknown name. */
const char *graft_operation_name(int32_t kind);
int32_t graft_operation_kind(const char *name);

/* [any] Adds the names of all built-in operations, separated by commas. */
void graft_operation_add_names(struct graft_text *text);

/* [any] Adds a description such as "Concatenate(dim=1)", or the name of a custom operation. */
void graft_operation_describe(const struct graft_operation *operation, struct graft_text *text);

#endif
