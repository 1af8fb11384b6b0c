/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for experts in config.json: the object `base_model_ep_plan`, with transformers' names. */
#ifndef EXPERT_PARALLEL_PLAN_H
#define EXPERT_PARALLEL_PLAN_H

#include "graft/config.h"
#include "graft/error.h"

/* [load] Whether the experts at `path` ("model.layers.0.mlp.experts") are divided: `*divides` becomes 1 if there is no
 * plan or one of its rules says so. A plan that cannot be read is an error. */
int plan_divides(const struct graft_config *config, const char *path, int *divides, struct graft_error *error);

#endif
