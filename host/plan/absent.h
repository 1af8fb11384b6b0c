/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Absent tensors: those of files that an index lists and that are missing. In a list, such as one of experts, absent
 * tensors stand for what another process has. They get the type and shape of the present ones, so that a Slice can drop
 * them. Used in this folder only.
 */
#ifndef GRAFT_PLAN_ABSENT_H
#define GRAFT_PLAN_ABSENT_H

#include "plan/gather.h"
#include "plan/plan.h"

/* [load] Adds the absent tensors of a name with a `*` to the gathered ones, of which there is at least one. The plan
 * owns their views. */
int graft_absent_gather(struct graft_plan *plan, const char *name, struct gathered *gathered,
                        struct graft_error *error);

/* [load] Checks that every absent tensor is one that `is_elsewhere` accepts or that a Slice dropped. Otherwise sets an
 * error that names the file. */
int graft_absent_check(const struct graft_plan *plan, int (*is_elsewhere)(const void *data, const char *tensor),
                       const void *data, struct graft_error *error);

/* [any] The missing file that the index lists for a tensor of that name; NULL if there is none. */
const struct graft_absent_file *graft_absent_find(const struct graft_checkpoint *checkpoint, const char *name);

void graft_absent_free(struct graft_plan *plan);

#endif
