/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that are wanted twice. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_CONFLICTS_H
#define GRAFT_PLAN_CONFLICTS_H

#include "plan/plan.h"

/* Makes it a problem of a binding when a conversion takes a tensor that another conversion, or a parameter of the
 * tensor's own name, takes as well. A replacement and the original beside it may share. */
int graft_conflicts_find(struct graft_plan *plan, struct graft_error *error);

#endif
