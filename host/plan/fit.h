/* SPDX-License-Identifier: Apache-2.0 */
/* The last pass of a plan. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_FIT_H
#define GRAFT_PLAN_FIT_H

#include "plan/plan.h"

/* Gives each binding its final status, type and cost, and the plan its sums. */
int graft_plan_fit(struct graft_plan *plan, struct graft_error *error);

#endif
