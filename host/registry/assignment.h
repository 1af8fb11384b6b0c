/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replacements of a snapshot do in one model: how many modules each wants and gets, and which groups are left
 * out because one of their members gets none. An assignment belongs to one thread; all functions are [load].
 */
#ifndef GRAFT_REGISTRY_ASSIGNMENT_H
#define GRAFT_REGISTRY_ASSIGNMENT_H

#include "registry/registry.h"

struct graft_assignment;

/* Model type and facts (NULL: none) are borrowed, the snapshot retained. With `skip_bad` set a plugin whose pattern
 * hits what it may not is left out. NULL if memory ran out. The caller frees it. */
struct graft_assignment *graft_assignment_create(struct graft_snapshot *snapshot, const char *model_type,
                                                 const struct graft_model_facts *facts, int skip_bad);
void graft_assignment_free(struct graft_assignment *assignment);

/* Leaves out all but what plugins bring that read weights of `quant_method`: its weights mean nothing without those. */
void graft_assignment_keep_method(struct graft_assignment *assignment, const char *quant_method);

/* Whether there are groups to decide on. */
int graft_assignment_has_groups(const struct graft_assignment *assignment);

/* Starts counting anew, for a tree about to be built. With `trial` set that tree is for graft_assignment_decide alone:
 * what ends a build, as two plugins that want one module, does not end this one. */
void graft_assignment_start(struct graft_assignment *assignment, int trial);

/* After a trial: leaves out groups that cannot take effect as a whole. `*changed` tells whether there was one; then
 * another trial has to show what that changes. */
int graft_assignment_decide(struct graft_assignment *assignment, int *changed, struct graft_error *error);

/* Keeps the replacement that joins the parts from the module where it does, for the reason `why`, once the tree is
 * built again. It is an error if the class is nobody's replacement. */
int graft_assignment_veto(struct graft_assignment *assignment, const struct graft_joined *joined, const char *why,
                          struct graft_error *error);

/* Whether that was done since the last call: then what has been built is to be built again. */
int graft_assignment_was_vetoed(struct graft_assignment *assignment);

/* Gives each note (replacements that do nothing here, modules that conditions leave alone, groups and plugins left out,
 * keys that are no class and no pattern) to `add`, which owns it from then on; NULL means that memory ran out. */
typedef int (*graft_assignment_add)(void *data, char *note_take, size_t unused_plugins, struct graft_error *error);
int graft_assignment_notes(const struct graft_assignment *assignment, graft_assignment_add add, void *data,
                           struct graft_error *error);

#endif
