/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transform of the names of a checkpoint, compiled: what transformers calls WeightRenaming, GroupWeightRename,
 * PrefixChange and WeightConverter, as far as names go. Immutable once made, and shared between loads and threads; what
 * one pass over a checkpoint has to remember is in a key_state.
 */
#ifndef GRAFT_NAMES_KEY_TRANSFORM_H
#define GRAFT_NAMES_KEY_TRANSFORM_H

#include "base/regex.h"
#include "graft/host/registry.h"
#include "names/key_pattern.h"

struct key_transform {
    struct graft_weight_transform *given; /* as it was described */
    struct key_patterns patterns;         /* ready to match */
    char *joined;                         /* all sources as one regular expression */
    struct graft_regex *regex;            /* the same */
    char **literals;                      /* [n_sources]: what each match of a source holds; NULL: nothing is known */
    size_t *groups;                       /* [n_sources]: the number of each source's group in it */
    struct graft_regex **stars;           /* [n_sources]: of a converter, for sources with a `*`; else NULL */
};

/* What one pass remembers of one transform; starts as {0}. */
struct key_state {
    int32_t used;   /* a name matched */
    int32_t active; /* of a group of renamings: its first source was met */
};

/* [any] Checks, copies and compiles a description. `place` names it in errors. */
int graft_key_transform_create(const struct graft_weight_transform *description, const char *place,
                               struct key_transform **transform, enum key_fault *fault, struct graft_error *error);
void graft_key_transform_free(struct key_transform *transform);

/* [any] Applies it to a name. `*renamed` becomes the new name (of the caller, by graft_free), or NULL when it does not
 * match; `*source` the number of the source pattern that matched. A converter gives the name its first target makes. */
int graft_key_transform_apply(const struct key_transform *transform, struct key_state *state, const char *name,
                              char **renamed, int32_t *source, enum key_fault *fault, struct graft_error *error);

/* [any] What its target number `target` makes of a name that matched, as above. */
int graft_key_transform_target(const struct key_transform *transform, const char *name, int32_t target, char **renamed,
                               struct graft_error *error);

/* [any] The number that the first `*` of a source stands for in a name that matched; -1 when that is no number, -2 when
 * the source has no `*`. */
int64_t graft_key_transform_index(const struct key_transform *transform, int32_t source, const char *name);

#endif
