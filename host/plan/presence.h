/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tensors a checkpoint has for which modules, before it is known what replaces them: names are looked for as for
 * parameters, below prefixes and renamed modules and behind model-wide lists. All functions are [load].
 */
#ifndef GRAFT_PLAN_PRESENCE_H
#define GRAFT_PLAN_PRESENCE_H

#include "plan/plan.h"

struct graft_presence;

/* Of a tree without replacements; tree, checkpoint and options outlive it. The caller frees it. */
int graft_presence_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                        const struct graft_plan_options *options, struct graft_presence **presence,
                        struct graft_error *error);
void graft_presence_free(struct graft_presence *presence);

/* The tensor of that name, relative to the module at `path`, or NULL; "adapter.*.NAME" is that of any adapter. */
const struct graft_tensor_view *graft_presence_find(const struct graft_presence *presence, const char *path,
                                                    const char *name);

/* Whether there are tensors below the module at `path`. */
int graft_presence_has_below(const struct graft_presence *presence, const char *path);

/* Whether transforms of a list were for any of the checkpoint's names. */
int graft_presence_is_changed(const struct graft_presence *presence);

/* Whether a file has it that is not there. */
int graft_presence_is_absent(const struct graft_presence *presence, const char *path, const char *name);

#endif
