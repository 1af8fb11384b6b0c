/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that one source of a conversion stands for. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_GATHER_H
#define GRAFT_PLAN_GATHER_H

#include "plan/sources.h"

/* A tensor, and what a `*` stands for in its name; without one, which it is of those taken. */
struct gathered_tensor {
    int64_t index;
    const struct graft_tensor_view *view;
};

struct gathered {
    struct gathered_tensor *items;
    size_t n;
    size_t capacity;
};

/* Adds a tensor; `index` -1: there is no `*`. */
int graft_gathered_add(struct gathered *gathered, int64_t index, const struct graft_tensor_view *view,
                       struct graft_error *error);

/* All of each tensor, in the order of the indices, which must run from 0: a gap would shift all behind it. `sources`:
 * where the tensors are from, which are used from then on; NULL: they are a checkpoint's own. */
int graft_gathered_values(struct gathered *gathered, struct graft_sources *sources, struct graft_value_list *list,
                          struct graft_error *error);

#endif
