/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assignment: what the replacements of a snapshot do in one model. It counts the modules that each one wants and
 * gets, and knows the groups that are left out because one of their members gets no module. An assignment belongs to
 * one thread; all functions are [load].
 */
#ifndef GRAFT_REGISTRY_ASSIGNMENT_H
#define GRAFT_REGISTRY_ASSIGNMENT_H

#include "registry/registry.h"

struct graft_assignment;

/* Creates an assignment, which the caller frees; NULL if memory ran out. Model type and facts (NULL: none) are
 * borrowed, the snapshot is retained. If `skip_bad` is set, a plugin whose pattern matches classes of another interface
 * is left out. */
struct graft_assignment *graft_assignment_create(struct graft_snapshot *snapshot, const char *model_type,
                                                 const struct graft_model_facts *facts, int skip_bad);
void graft_assignment_free(struct graft_assignment *assignment);

/* Leaves out all replacements except those of plugins that read weights of `quant_method`, without which the weights
 * are meaningless. */
void graft_assignment_keep_method(struct graft_assignment *assignment, const char *quant_method);

/* Whether any rule belongs to a group. */
int graft_assignment_has_groups(const struct graft_assignment *assignment);

/* Resets the counts, before a tree is built. With `trial` set, the tree is only for graft_assignment_decide: faults
 * that end a build, such as two plugins that want the same module, do not end a trial. */
void graft_assignment_start(struct graft_assignment *assignment, int trial);

/* After a trial: leaves out groups that cannot take effect as a whole. `*changed` says whether any was left out; then
 * another trial is needed. */
int graft_assignment_decide(struct graft_assignment *assignment, int *changed, struct graft_error *error);

/* Keeps a replacement from the module whose parts it joins, for the reason `why`, when the tree is built again. It is
 * an error if the class is not a replacement. */
int graft_assignment_veto(struct graft_assignment *assignment, const struct graft_joined *joined, const char *why,
                          struct graft_error *error);

/* Whether a replacement was vetoed since the last call, so that the tree has to be built again. */
int graft_assignment_was_vetoed(struct graft_assignment *assignment);

/* Passes each note to `add`, which then owns it; NULL means that memory ran out. Notes are about replacements without
 * effect, modules excluded by conditions, groups and plugins left out, and keys that are neither a class nor a
 * pattern. */
typedef int (*graft_assignment_add)(void *data, char *note_take, size_t unused_plugins, struct graft_error *error);
int graft_assignment_notes(const struct graft_assignment *assignment, graft_assignment_add add, void *data,
                           struct graft_error *error);

#endif
