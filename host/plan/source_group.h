/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that one use of a converter takes together. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_SOURCE_GROUP_H
#define GRAFT_PLAN_SOURCE_GROUP_H

#include "plan/sources.h"

/* A tensor, and what a `*` stands for in its name; without one, which it is of those taken. */
struct source_indexed {
    int64_t index;
    const struct graft_tensor_view *view;
};

/* What one source pattern collected. */
struct source_taken {
    struct source_indexed *items;
    size_t n;
    size_t capacity;
};

/* One use: all tensors that the converter gives one name. */
struct source_group {
    const struct key_transform *converter;
    char *name;                 /* of the first target */
    char *before;               /* a name that matched, as the converter saw it */
    struct source_taken *taken; /* [n_sources] */
};

struct source_groups {
    struct source_group *items; /* in the order of their first tensors */
    size_t n;
    size_t capacity;
    size_t *order; /* [n]: by converter and name */
    size_t order_capacity;
};

/* Adds a tensor that a converter matched. */
int graft_source_groups_add(struct source_groups *groups, const struct key_list *list,
                            const struct graft_tensor_view *view, const struct key_result *result,
                            struct graft_error *error);
void graft_source_groups_finish(struct source_groups *groups);

/* Runs a group's operations, and adds what they make. */
int graft_source_group_convert(const struct source_context *context, const struct source_group *group,
                               struct graft_sources *sources, struct graft_error *error);

#endif
