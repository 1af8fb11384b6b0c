/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of a list's converters. A use gathers the tensors to which a converter gives the same name. Used in this folder
 * only. */
#ifndef GRAFT_PLAN_SOURCE_USE_H
#define GRAFT_PLAN_SOURCE_USE_H

#include "names/key_list.h"
#include "plan/use.h"

struct source_use {
    const struct key_transform *converter;
    int by_patch; /* 1: the converter belongs to the load patch */
    char *name;   /* name of the first target */
    char *before; /* a name that matched, as seen by the converter */
    struct conversion_use use;
};

/* Starts as {0}, with the first three members set. */
struct source_uses {
    struct graft_plan *plan;
    struct graft_tree *tree;
    const char *prefix;       /* base_model_prefix, or "" */
    struct source_use *items; /* in the order of the uses' first tensors */
    size_t n;
    size_t capacity;
    size_t *order; /* [n]: indices of items, sorted by converter and name */
    size_t order_capacity;
};

/* Adds a tensor whose name a converter matched. */
int graft_source_uses_add(struct source_uses *uses, const struct key_transform *converter, int by_patch,
                          const struct graft_tensor_view *view, const struct key_result *result,
                          struct graft_error *error);
void graft_source_uses_finish(struct source_uses *uses);

/* Runs all uses. Their results become sources of the plan under the targets' names. */
int graft_source_uses_convert(struct source_uses *uses, struct graft_error *error);

/* Whether a tree (`data`) has a parameter of a full name. */
int graft_plan_has_parameter(void *data, const char *name);

#endif
