/* SPDX-License-Identifier: Apache-2.0 */
/* Finds tensors that are taken twice. Used in this folder only. */
#ifndef GRAFT_PLAN_CONFLICTS_H
#define GRAFT_PLAN_CONFLICTS_H

#include "plan/plan.h"

/* Marks a binding with a problem if its conversion takes a tensor that another conversion, or the parameter of the
 * tensor's name, takes as well. A replacement and its original may share tensors. */
int graft_conflicts_find(struct graft_plan *plan, struct graft_error *error);

#endif
