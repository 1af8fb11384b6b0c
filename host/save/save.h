/* SPDX-License-Identifier: Apache-2.0 */
/* Saving a bound model. */
#ifndef GRAFT_SAVE_SAVE_H
#define GRAFT_SAVE_SAVE_H

#include "graft/save.h"
#include "model/tree.h"
#include "transform/plan.h"

/* [load] graft_model_save for a plan whose parameters are bound; `tree` is the plan's. */
int graft_save(const char *directory, struct graft_tree *tree, const struct graft_plan *plan, const char *output,
               const struct graft_save_options *options, struct graft_error *error);

/* [any] To be called when a model's parameters do not fit: if its directory is in the runtime layout of plugins that
 * are not active, `error` gets the hint to load them. */
void graft_save_hint(const char *directory, struct graft_tree *tree, struct graft_error *error);

#endif
