/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One use of a conversion, whoever says it: a class at one of its modules, or a model-wide list for the tensors that it
 * brings together. Whose it is decides which tensors are gathered and where the results go; what is between is here.
 * Shared by the units of this folder only; all functions are [load].
 */
#ifndef GRAFT_PLAN_USE_H
#define GRAFT_PLAN_USE_H

#include "graft/config.h"
#include "plan/gather.h"
#include "plan/plan.h"
#include "value/operations.h"

struct conversion_use {
    struct graft_plan *plan;           /* which gets the uses of custom operations */
    const struct graft_config *config; /* NULL: none */
    const char *place;                 /* what errors name */
    const char *module;                /* the path of the class's module; "" for lists */
    const char *plugin;                /* whose class it is; NULL: the host's, or a list's */
    struct graft_sources *sources;     /* where the tensors are from; NULL: they are the checkpoint's own */
    int32_t from_tied;                 /* 1: all its tensors are those of parameters that its sources are tied to */
    const struct graft_operation *operations;
    int32_t n_operations;
    uint32_t operation_stride;
    const char *const *source_names; /* [n_sources] */
    int32_t n_sources;
    const char *const *target_names; /* [n_targets] */
    int32_t n_targets;
    void *data; /* given to the functions */
    /* The parameter that a target means, for index 0 of its `*`; NULL when there is none. */
    const struct graft_parameter *(*parameter)(void *data, int32_t target);
    /* Takes a value, the one for index `index` of a target's `*`. */
    int (*deliver)(void *data, int32_t target, int64_t index, struct graft_value *value, struct graft_error *error);
    struct gathered *gathered;      /* [n_sources] */
    struct graft_value_list *lists; /* [n_lists]: of sources, then of targets */
    size_t n_lists;
};

/* Room for what the use gathers. Also on failure the caller ends it with graft_use_finish. */
int graft_use_begin(struct conversion_use *use, struct graft_error *error);
void graft_use_finish(struct conversion_use *use);

/* The operations on what was gathered (and on lists that are there already): `lists` are of the targets then. */
int graft_use_run(struct conversion_use *use, struct graft_error *error);

/* Delivers what was made. */
int graft_use_deliver(struct conversion_use *use, struct graft_error *error);

#endif
