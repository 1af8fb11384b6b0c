/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One compiled transform of a checkpoint's names: the naming part of transformers' WeightRenaming, GroupWeightRename,
 * PrefixChange and WeightConverter. Immutable once made; loads and threads share it. A key_state holds what one pass
 * over a checkpoint remembers.
 */
#ifndef GRAFT_NAMES_KEY_TRANSFORM_H
#define GRAFT_NAMES_KEY_TRANSFORM_H

#include "base/regex.h"
#include "graft/host/registry.h"
#include "names/key_pattern.h"

struct key_transform {
    struct graft_weight_transform *given; /* as it was described */
    struct key_patterns patterns;         /* prepared for matching */
    char *joined;                         /* all sources as one regular expression */
    struct graft_regex *regex;            /* `joined`, compiled */
    char **literals; /* [n_sources]: a literal that every match of the source contains; NULL: none is known */
    size_t *groups;  /* [n_sources]: the number of each source's group in `joined` */
    struct graft_regex **stars; /* [n_sources]: extracts the index, for a converter's sources with a `*`; else NULL */
};

/* What one pass remembers of one transform; starts as {0}. */
struct key_state {
    int32_t used;   /* a name matched */
    int32_t active; /* for a group of renamings: its first source has matched */
};

/* [any] Checks, copies and compiles a description. `place` names it in errors. */
int graft_key_transform_create(const struct graft_weight_transform *description, const char *place,
                               struct key_transform **transform, enum key_fault *fault, struct graft_error *error);
void graft_key_transform_free(struct key_transform *transform);

/* [any] Applies a transform to a name. `*renamed` becomes the new name, which the caller frees with graft_free, or NULL
 * if no source matches; `*source` becomes the index of the source pattern that matched. A converter gives the name that
 * its first target makes. */
int graft_key_transform_apply(const struct key_transform *transform, struct key_state *state, const char *name,
                              char **renamed, int32_t *source, enum key_fault *fault, struct graft_error *error);

/* [any] Like graft_key_transform_apply, for target number `target`. */
int graft_key_transform_target(const struct key_transform *transform, const char *name, int32_t target, char **renamed,
                               struct graft_error *error);

/* [any] The number that the first `*` of a source matched in a name; -1 if it is not a number, -2 if the source has no
 * `*`. */
int64_t graft_key_transform_index(const struct key_transform *transform, int32_t source, const char *name);

#endif
