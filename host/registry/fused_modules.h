/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fusion family found in a model: the modules it considered, and the class for each that fits.
 *
 * Such a list is immutable once made, and shared: the family keeps those made for it, so that opening the same
 * architecture with the same config again asks no module anything. model/find_fusable.c makes them; here nothing knows
 * of trees.
 */
#ifndef GRAFT_REGISTRY_FUSED_MODULES_H
#define GRAFT_REGISTRY_FUSED_MODULES_H

#include "registry/fusion.h"

/* A module that a family considered: its path is a target, or it could be fused if it were. */
struct graft_candidate {
    const struct graft_known_fusion *family;
    char *path;
    const struct graft_class *original; /* its class before anything is replaced */
    int32_t fusable;
    char *reason;                         /* why, or why not */
    struct graft_known_class known;       /* of a fusable one: `fused`, and who brings it */
    struct graft_class fused;             /* the family's class, with a name and the conversions below */
    char *name;                           /* where the family gave none; or NULL */
    struct graft_conversion *conversions; /* [fused.n_conversions]: copies */
    size_t conversions_capacity;
    struct graft_args args; /* for the class, behind those of the module's parent: copies */
};

struct graft_fused_modules {
    const struct graft_known_fusion *known;
    struct graft_candidate **candidates; /* in the order of the tree */
    size_t n;
    size_t capacity;
};

/* [any] A new list with one reference, or NULL if memory ran out. */
struct graft_fused_modules *graft_fused_modules_create(const struct graft_known_fusion *known);
const struct graft_fused_modules *graft_fused_modules_retain(const struct graft_fused_modules *fused);
void graft_fused_modules_release(const struct graft_fused_modules *fused);

/* [any] The candidate that fits at that path, or NULL. */
const struct graft_candidate *graft_fused_modules_at(const struct graft_fused_modules *fused, const char *path);

/* [load] A new candidate at the end, or NULL with an error recorded. */
struct graft_candidate *graft_fused_modules_add(struct graft_fused_modules *fused, const char *path,
                                                const struct graft_class *original,
                                                const struct graft_fusion_verdict *verdict, struct graft_error *error);

/* [load] A candidate of nobody's; NULL if memory ran out. */
struct graft_candidate *graft_candidate_create(const struct graft_known_fusion *family, const char *path);

/* [load] Gives a candidate arguments, the family's class, and one by one its conversions. Everything is
 * checked as in a plugin's descriptor, and copied. */
int graft_candidate_add_arguments(struct graft_candidate *candidate, const struct graft_args *args,
                                  struct graft_error *error);
int graft_candidate_set_class(struct graft_candidate *candidate, const struct graft_class *cls,
                              struct graft_error *error);
int graft_candidate_add_conversion(struct graft_candidate *candidate, const struct graft_conversion *conversion,
                                   struct graft_error *error);

/* [load] The class that came of it: as a plugin's replacement is checked, and its interface against the original's. */
int graft_candidate_check(const struct graft_candidate *candidate, struct graft_error *error);

/* Frees what a candidate holds, and it. */
void graft_candidate_free(struct graft_candidate *candidate);

/* [any] What the list depends on: the model's class, its config and the family's options, as texts. */
struct graft_fused_modules_key {
    const struct graft_class *architecture;
    const char *config;
    const char *options;
};

/* [any] The list that the family keeps under that key, with a reference for the caller; NULL if there is none. */
const struct graft_fused_modules *graft_fusion_recall(const struct graft_known_fusion *known,
                                                      const struct graft_fused_modules_key *key);

/* [any] Keeps a list; the oldest goes when there are many. Without memory it is not kept, and nothing is lost. */
void graft_fusion_remember(const struct graft_known_fusion *known, const struct graft_fused_modules_key *key,
                           const struct graft_fused_modules *fused);

#endif
