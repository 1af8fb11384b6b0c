/* SPDX-License-Identifier: Apache-2.0 */
/* The source stage: a checkpoint as model-wide lists leave it. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_SOURCE_LIST_H
#define GRAFT_PLAN_SOURCE_LIST_H

#include "plan/plan.h"

/* [load] Fills plan->sources with what its checkpoint is after the options' list. What cannot be converted, and names
 * that two tensors come to, are problems of sources. */
int graft_plan_sources_make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                            struct graft_error *error);

#endif
