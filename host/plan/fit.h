/* SPDX-License-Identifier: Apache-2.0 */
/* The last pass of planning. Used in this folder only. */
#ifndef GRAFT_PLAN_FIT_H
#define GRAFT_PLAN_FIT_H

#include "plan/plan.h"

/* Sets each binding's final status, type and cost, and the plan's totals. */
int graft_plan_fit(struct graft_plan *plan, struct graft_error *error);

#endif
