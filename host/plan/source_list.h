/* SPDX-License-Identifier: Apache-2.0 */
/* The source stage: applies model-wide lists to a checkpoint. Used in this folder only. */
#ifndef GRAFT_PLAN_SOURCE_LIST_H
#define GRAFT_PLAN_SOURCE_LIST_H

#include "plan/plan.h"

/* [load] Fills plan->sources with the checkpoint's tensors after the options' list was applied. Failed conversions, and
 * names that two tensors get, become problems of sources. */
int graft_plan_sources_make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                            struct graft_error *error);

#endif
