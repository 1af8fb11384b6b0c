/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors of files that an index lists and that are not there. Of a list, as of experts, they take the places of what
 * another process has: with the type and shape of those that are there, so that a Slice may drop them. Shared by the
 * units of this folder only.
 */
#ifndef GRAFT_PLAN_ABSENT_H
#define GRAFT_PLAN_ABSENT_H

#include "plan/gather.h"
#include "plan/plan.h"

/* [load] Adds the absent tensors of a name with a `*` to those gathered, of which there is one at least. The plan keeps
 * their views. */
int graft_absent_gather(struct graft_plan *plan, const char *name, struct gathered *gathered,
                        struct graft_error *error);

/* [load] Whether every tensor of files that are not there is one that `is_elsewhere` says yes to, or was dropped by a
 * Slice; otherwise an error that names the file. */
int graft_absent_check(const struct graft_plan *plan, int (*is_elsewhere)(const void *data, const char *tensor),
                       const void *data, struct graft_error *error);

/* [any] The file that is not there and is listed for a tensor of that name; NULL: none. */
const struct graft_absent_file *graft_absent_find(const struct graft_checkpoint *checkpoint, const char *name);

void graft_absent_free(struct graft_plan *plan);

#endif
