/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a model that other processes have: modules marked as elsewhere (graft/class.h), and the tensors
 * below them. */
#ifndef GRAFT_PLAN_REMOTE_PARAMETERS_H
#define GRAFT_PLAN_REMOTE_PARAMETERS_H

#include "plan/lookup.h"
#include "plan/plan.h"

/* [load] Moves the tensors below such modules from the plan's `unexpected` to its `elsewhere`. A missing file with any
 * other tensor is an error. */
int graft_plan_find_elsewhere(struct graft_plan *plan, const struct lookup *lookup, struct graft_error *error);

#endif
