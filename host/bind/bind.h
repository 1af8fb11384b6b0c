/* SPDX-License-Identifier: Apache-2.0 */
/* Turning a plan into weights: row blocks in the mapped files where they can be views, copies where they cannot. */
#ifndef GRAFT_BIND_BIND_H
#define GRAFT_BIND_BIND_H

#include "plan/plan.h"

/* The weights of one tree; must outlive the tree's instances, and be outlived by the checkpoint. */
struct graft_bound;

/* [load] Binds every parameter that the plan has something for; the others keep no weight. Copies are made in parallel.
 */
int graft_bind(struct graft_plan *plan, struct graft_bound **bound, struct graft_error *error);
void graft_bound_free(struct graft_bound *bound);

#endif
