/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells which tensors a checkpoint has for which modules, before it is known what replaces the modules. Names are
 * looked up like those of parameters, with prefixes, renamed modules and model-wide lists. All functions are [load].
 */
#ifndef GRAFT_PLAN_PRESENCE_H
#define GRAFT_PLAN_PRESENCE_H

#include "plan/plan.h"

struct graft_presence;

/* Makes the presence for a tree without replacements. Tree, checkpoint and options outlive it; the caller frees it. */
int graft_presence_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                        const struct graft_plan_options *options, struct graft_presence **presence,
                        struct graft_error *error);
void graft_presence_free(struct graft_presence *presence);

/* The tensor called `name`, relative to the module at `path`; NULL if there is none. "adapter.*.NAME" means a tensor of
 * any adapter. */
const struct graft_tensor_view *graft_presence_find(const struct graft_presence *presence, const char *path,
                                                    const char *name);

/* Whether the checkpoint has tensors below the module at `path`. */
int graft_presence_has_below(const struct graft_presence *presence, const char *path);

/* Whether it may have tensors below some module called `name`, wherever that is. */
int graft_presence_may_have(const struct graft_presence *presence, const char *name);

/* Whether a list's transforms applied to any of the checkpoint's names. */
int graft_presence_is_changed(const struct graft_presence *presence);

/* Whether a tensor that graft_presence_find would look for is in a missing file. */
int graft_presence_is_absent(const struct graft_presence *presence, const char *path, const char *name);

#endif
