/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which tokens of a vocabulary fit a grammar. A *matcher* follows one text: it masks the tokens that may not come
 * next, and is told which one came. All matchers of a grammar share its machine and its masks under one lock, so they
 * may run on different threads; a single matcher is used by one thread at a time.
 */
#ifndef GRAFT_GRAMMAR_MATCHER_H
#define GRAFT_GRAMMAR_MATCHER_H

#include "grammar/machine.h"
#include "grammar/trie.h"

struct graft_grammar_core;

/* A grammar for the tokens of `trie`, which outlives it. Takes finished `rules` over, and leaves {0}, on success.
 * Returns NULL if memory ran out. */
struct graft_grammar_core *graft_grammar_core_create(struct graft_rules *rules_take, const struct graft_trie *trie,
                                                     const struct graft_machine_limits *limits);
void graft_grammar_core_destroy(struct graft_grammar_core *core);

struct graft_matcher;

/* A matcher at the start of a text, or at the position of `from`, a matcher of the same grammar. The grammar outlives
 * it. NULL if memory ran out. */
struct graft_matcher *graft_matcher_create(struct graft_grammar_core *core, const struct graft_matcher *from);
void graft_matcher_destroy(struct graft_matcher *matcher);

/* Appends bytes to the text. Bytes that do not fit are not an error here; the matcher is dead from then on. */
int graft_matcher_take(struct graft_matcher *matcher, const char *bytes, size_t length, struct graft_error *error);

/* Appends the bytes of a token. */
int graft_matcher_take_token(struct graft_matcher *matcher, int32_t id, struct graft_error *error);

/* Whether the text may end here; whether nothing can make it fit any more. */
int graft_matcher_may_end(const struct graft_matcher *matcher);
int graft_matcher_is_dead(const struct graft_matcher *matcher);

/* Tokens that end a text. The grammar itself never matches them. */
struct graft_matcher_ends {
    const int32_t *ids;
    size_t n;
};

/* Sets the scores [n] of tokens that do not fit to -INFINITY; `ends` fit where the text may end. With `only_largest`
 * only the largest score that is left has to be right: tokens are tried from the largest score down, and all are masked
 * only if the first few do not fit. `*left` becomes 0 if no token that fits has a score above -INFINITY. */
int graft_matcher_mask(struct graft_matcher *matcher, const struct graft_matcher_ends *ends, int only_largest,
                       float *scores, size_t n, int *left, struct graft_error *error);

#endif
