/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One use of a conversion, of a class at one of its modules or of a model-wide list. The caller decides which tensors
 * are gathered and where the results go; the steps in between are here. Used in this folder only; all functions are
 * [load].
 */
#ifndef GRAFT_PLAN_USE_H
#define GRAFT_PLAN_USE_H

#include "graft/config.h"
#include "plan/gather.h"
#include "plan/plan.h"
#include "value/operations.h"

struct conversion_use {
    struct graft_plan *plan;           /* receives the uses of custom operations */
    const struct graft_config *config; /* NULL: none */
    const char *place;                 /* source of errors */
    const char *module;                /* path of the class's module; "" for lists */
    const char *plugin;                /* plugin of the class; NULL: the host, or a list */
    struct graft_sources *sources;     /* where the tensors are looked up; NULL: they are the checkpoint's own */
    int32_t from_tied;                 /* 1: all tensors belong to parameters to which the sources are tied */
    const struct graft_operation *operations;
    int32_t n_operations;
    uint32_t operation_stride;
    const char *const *source_names; /* [n_sources] */
    int32_t n_sources;
    const char *const *target_names; /* [n_targets] */
    int32_t n_targets;
    void *data; /* passed to the callbacks */
    /* The parameter of a target, for index 0 of its `*`; NULL if there is none. */
    const struct graft_parameter *(*parameter)(void *data, int32_t target);
    /* Takes the value for index `index` of a target's `*`. */
    int (*deliver)(void *data, int32_t target, int64_t index, struct graft_value *value, struct graft_error *error);
    struct gathered *gathered; /* [n_sources] */
    /* [n_lists]: one for each source, and after graft_conversion_use_run for each target */
    struct graft_value_list *lists;
    size_t n_lists;
};

/* Allocates a use. The caller ends it with graft_conversion_use_finish, even on failure. */
int graft_conversion_use_begin(struct conversion_use *use, struct graft_error *error);
void graft_conversion_use_finish(struct conversion_use *use);

/* Runs the operations on the gathered tensors, or on lists that exist already. Afterwards `lists` are those of the
 * targets. */
int graft_conversion_use_run(struct conversion_use *use, struct graft_error *error);

/* Delivers the results to their targets. */
int graft_conversion_use_deliver(struct conversion_use *use, struct graft_error *error);

#endif
