/* SPDX-License-Identifier: Apache-2.0 */
/* Applying one conversion of one module. Shared by the units of this folder only. */
#ifndef GRAFT_TRANSFORM_CONVERT_H
#define GRAFT_TRANSFORM_CONVERT_H

#include "transform/lookup.h"
#include "transform/plan.h"

/* What a conversion works on and fills. */
struct conversion_site {
    struct graft_plan *plan;
    struct graft_node *node;
    const struct graft_conversion *conversion;
    struct lookup *lookup;
};

/* The binding of a parameter; every parameter of the tree has one. */
struct graft_binding *plan_binding(const struct graft_plan *plan, const struct graft_parameter *parameter);

/* Fills the bindings of the conversion's targets that are still missing. What the checkpoint cannot give becomes a
 * problem of those bindings; the status is for want of memory and for conversions that make no sense. */
int conversion_apply(struct conversion_site *site, struct graft_error *error);

/* Runs the operations on one list of values per source; the result has one list per target. `sizes_of` gives, for a
 * Chunk as operation number `op`, each target's size along its dimension. */
struct chunk_sizes {
    const struct conversion_site *site;
    int (*size)(const struct conversion_site *site, int32_t target, int32_t op, int64_t *size);
};
int operations_run(const struct conversion_site *site, const struct chunk_sizes *sizes, struct graft_value_list **lists,
                   size_t *n_lists, struct graft_error *error);

#endif
