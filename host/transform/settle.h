/* SPDX-License-Identifier: Apache-2.0 */
/* The last pass of a plan. Shared by the units of this folder only. */
#ifndef GRAFT_TRANSFORM_SETTLE_H
#define GRAFT_TRANSFORM_SETTLE_H

#include "transform/plan.h"

/* Gives each binding its final status, type and cost, and the plan its sums. */
int plan_settle(struct graft_plan *plan, struct graft_error *error);

#endif
