/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replacements of a snapshot do in one model: how many modules each wants and gets, and which groups are left
 * out because one of their members gets none. A tally belongs to one thread; all functions are [load].
 */
#ifndef GRAFT_REGISTRY_TALLY_H
#define GRAFT_REGISTRY_TALLY_H

#include "registry/registry.h"

struct graft_tally;

/* The model type is borrowed, the snapshot retained. NULL when memory ran out. The caller frees it. */
struct graft_tally *graft_tally_create(struct graft_snapshot *snapshot, const char *model_type);
void graft_tally_free(struct graft_tally *tally);

/* Whether there are groups to decide on. */
int graft_tally_has_groups(const struct graft_tally *tally);

/* Starts counting anew, for a tree about to be built. With `trial` set that tree is for graft_tally_decide alone:
 * what ends a build, as two plugins that want one module, does not end this one. */
void graft_tally_start(struct graft_tally *tally, int trial);

/* After a trial: leaves out groups that cannot take effect as a whole. `*changed` tells whether there was one; then
 * another trial has to show what that changes. */
int graft_tally_decide(struct graft_tally *tally, int *changed, struct graft_error *error);

/* Gives each remark (replacements that do nothing here, groups left out, keys that are no class and no pattern) to
 * `add`, which owns it from then on; NULL means that memory ran out. */
typedef int (*graft_tally_add)(void *data, char *note_take, struct graft_error *error);
int graft_tally_remark(const struct graft_tally *tally, graft_tally_add add, void *data, struct graft_error *error);

#endif
