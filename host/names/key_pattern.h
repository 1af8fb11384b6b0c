/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of names, made ready for matching. What is written for one direction is also read in the other, so that one
 * list describes loading and saving: a target loses what is regular expression about it, and a group in it ("(a|b)")
 * stands in the sources wherever those say \1. Shared by the units of this folder only; all functions are [any].
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

/* Makes patterns ready from those given. Also on failure the caller frees them with key_patterns_finish. */
int graft_key_patterns_init(struct key_patterns *patterns, const char *const *sources, int32_t n_sources,
                            const char *const *targets, int32_t n_targets, const char *place, enum key_fault *fault,
                            struct graft_error *error);
void graft_key_patterns_finish(struct key_patterns *patterns);

/* All sources as one regular expression with a group "g0", "g1", ... for each; the longest goes first. */
int graft_key_patterns_join(const struct key_patterns *patterns, struct graft_text *joined, struct graft_error *error);

/* The longest literal that each match of a source contains, within `source`; NULL: it is not that simple. */
const char *graft_key_pattern_literal(const char *source, size_t *length);

/* One source with its first `*` in a group "star". A failure shows in `text`. */
void graft_key_pattern_star(const char *source, struct graft_text *text);

#endif
