/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares patterns of names for matching. One list describes both loading and saving, as each pattern is also used in
 * the reverse direction: targets lose their regular expression syntax, and a target's group ("(a|b)") replaces \1 in
 * the sources. Used in this folder only; all functions are [any].
 */
#ifndef GRAFT_NAMES_KEY_PATTERN_H
#define GRAFT_NAMES_KEY_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "names/key_fault.h"

/* The two sides of a transform; the strings are the owner's. */
struct key_patterns {
    char **sources;
    char **targets;
    int32_t n_sources;
    int32_t n_targets;
};

/* Prepares the given patterns. The caller frees them with graft_key_patterns_finish, even on failure. */
int graft_key_patterns_init(struct key_patterns *patterns, const char *const *sources, int32_t n_sources,
                            const char *const *targets, int32_t n_targets, const char *place, enum key_fault *fault,
                            struct graft_error *error);
void graft_key_patterns_finish(struct key_patterns *patterns);

/* Joins all sources into one regular expression with a group "g0", "g1", ... for each, longest source first. */
int graft_key_patterns_join(const struct key_patterns *patterns, struct graft_text *joined, struct graft_error *error);

/* The longest literal that every match of a source contains, as a part of `source`; NULL if that cannot be told. */
const char *graft_key_pattern_literal(const char *source, size_t *length);

/* Adds one source with its first `*` as the group "star". If memory ran out, `text->failed` is set. */
void graft_key_pattern_star(const char *source, struct graft_text *text);

#endif
