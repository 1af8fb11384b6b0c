/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a plan into weights: row blocks of the mapped files where a view is possible, copies elsewhere. */
#ifndef GRAFT_BIND_BIND_H
#define GRAFT_BIND_BIND_H

#include "plan/plan.h"

/* The weights of one tree. They must outlive the tree's instances, and the checkpoint must outlive them. */
struct graft_bound;

/* [load] Binds every parameter for which the plan has a tensor; the others have no weight. Copies are made in
 * parallel. */
int graft_bind(struct graft_plan *plan, struct graft_bound **bound, struct graft_error *error);
void graft_bound_free(struct graft_bound *bound);

#endif
