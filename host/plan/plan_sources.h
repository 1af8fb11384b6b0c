/* SPDX-License-Identifier: Apache-2.0 */
/* The first step of a plan: the checkpoint as classes see it. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_PLAN_SOURCES_H
#define GRAFT_PLAN_PLAN_SOURCES_H

#include "plan/plan.h"
#include "plan/sources.h"

/* Fills plan->sources. */
int graft_plan_sources_make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                            struct graft_error *error);

#endif
