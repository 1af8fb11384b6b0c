/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fusion family found in a model: the modules that it considered, and the class for each that it can fuse.
 *
 * Such a list is immutable and shared. A family keeps its lists, so that opening the same architecture with the same
 * config again asks no module. model/find_fusable.c makes the lists; this file knows nothing of trees.
 */
#ifndef GRAFT_REGISTRY_FUSED_MODULES_H
#define GRAFT_REGISTRY_FUSED_MODULES_H

#include "registry/fusion.h"

/* A module that a family considered: its path matches a target, or the module could be fused if it did. */
struct graft_candidate {
    const struct graft_known_fusion *family;
    char *path;
    const struct graft_class *original; /* the module's class before replacements */
    int32_t fusable;
    char *reason;                         /* why the module is fused or not */
    struct graft_known_class known;       /* for a module that can be fused: `fused` and its origin */
    struct graft_class fused;             /* a copy of the family's class, with the name and conversions below */
    char *name;                           /* a name made for a class that the family did not name; or NULL */
    struct graft_conversion *conversions; /* [fused.n_conversions] copies */
    size_t conversions_capacity;
    struct graft_args args; /* copies of the family's arguments, which follow those of the module's parent */
};

struct graft_fused_modules {
    const struct graft_known_fusion *known;
    struct graft_candidate **candidates; /* in the order of the tree */
    size_t n;
    size_t capacity;
};

/* [any] Creates a list with one reference; NULL if memory ran out. */
struct graft_fused_modules *graft_fused_modules_create(const struct graft_known_fusion *known);
const struct graft_fused_modules *graft_fused_modules_retain(const struct graft_fused_modules *fused);
void graft_fused_modules_release(const struct graft_fused_modules *fused);

/* [any] The candidate at that path that can be fused, or NULL. */
const struct graft_candidate *graft_fused_modules_at(const struct graft_fused_modules *fused, const char *path);

/* [load] Appends a new candidate; returns NULL with an error set if memory ran out. */
struct graft_candidate *graft_fused_modules_add(struct graft_fused_modules *fused, const char *path,
                                                const struct graft_class *original,
                                                const struct graft_fusion_verdict *verdict, struct graft_error *error);

/* [load] Creates a candidate that is in no list; NULL if memory ran out. */
struct graft_candidate *graft_candidate_create(const struct graft_known_fusion *family, const char *path);

/* [load] Sets a candidate's arguments and class, and adds conversions one by one. Everything is checked like a plugin's
 * descriptor, and copied. */
int graft_candidate_add_arguments(struct graft_candidate *candidate, const struct graft_args *args,
                                  struct graft_error *error);
int graft_candidate_set_class(struct graft_candidate *candidate, const struct graft_class *cls,
                              struct graft_error *error);
int graft_candidate_add_conversion(struct graft_candidate *candidate, const struct graft_conversion *conversion,
                                   struct graft_error *error);

/* [load] Checks the resulting class like a plugin's replacement, and its interface against the original's. */
int graft_candidate_check(const struct graft_candidate *candidate, struct graft_error *error);

/* Frees a candidate and its content. */
void graft_candidate_free(struct graft_candidate *candidate);

/* The key of a list: the texts of the model's class, its config, and the family's options. */
struct graft_fused_modules_key {
    const struct graft_class *architecture;
    const char *config;
    const char *options;
};

/* [any] The list that the family keeps under a key, with a reference for the caller; NULL if there is none. */
const struct graft_fused_modules *graft_fusion_recall(const struct graft_known_fusion *known,
                                                      const struct graft_fused_modules_key *key);

/* [any] Keeps a list; once there are many, the oldest is dropped. If memory runs out, the list is not kept. */
void graft_fusion_remember(const struct graft_known_fusion *known, const struct graft_fused_modules_key *key,
                           const struct graft_fused_modules *fused);

#endif
