/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the tensors that one source of a conversion matches. Used in this folder only. */
#ifndef GRAFT_PLAN_GATHER_H
#define GRAFT_PLAN_GATHER_H

#include "plan/sources.h"

/* A tensor, with the number that `*` matches in its name; without a `*`, its place among the tensors gathered. */
struct gathered_tensor {
    int64_t index;
    const struct graft_tensor_view *view;
};

struct gathered {
    struct gathered_tensor *items;
    size_t n;
    size_t capacity;
};

/* Adds a tensor; `index` is -1 if the name has no `*`. */
int graft_gathered_add(struct gathered *gathered, int64_t index, const struct graft_tensor_view *view,
                       struct graft_error *error);

/* Makes a value of each whole tensor, in the order of the indices. The indices must be 0, 1, ... without a gap, which
 * would shift all later ones. `sources` has the tensors, which count as used from then on; NULL if they are the
 * checkpoint's own. */
int graft_gathered_values(struct gathered *gathered, struct graft_sources *sources, struct graft_value_list *list,
                          struct graft_error *error);

#endif
