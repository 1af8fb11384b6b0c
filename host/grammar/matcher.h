/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tokens of a vocabulary fit a grammar. A *matcher* is the place of one text; it says which tokens may come next,
 * and is told which one came. Matchers of one grammar share what they find out, and a lock: any thread may use a
 * matcher, one at a time.
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

/* At the start, or where `from`, a matcher of the same grammar, is; NULL if memory ran out. The grammar outlives it. */
struct graft_matcher *graft_matcher_create(struct graft_grammar_core *core, const struct graft_matcher *from);
void graft_matcher_destroy(struct graft_matcher *matcher);

/* The text goes on with these bytes. What does not fit is no error here: nothing fits from then on. */
int graft_matcher_take(struct graft_matcher *matcher, const char *bytes, size_t length, struct graft_error *error);

/* The same for the bytes of a token. */
int graft_matcher_take_token(struct graft_matcher *matcher, int32_t id, struct graft_error *error);

/* Whether the text may end here; whether anything fits, the end included. */
int graft_matcher_may_end(const struct graft_matcher *matcher);
int graft_matcher_is_dead(const struct graft_matcher *matcher);

/* Tokens that end a text, which have no place in a grammar otherwise. */
struct graft_matcher_ends {
    const int32_t *ids;
    size_t n;
};

/* scores [n]: those of tokens that do not fit become -INFINITY; `ends` fit where the text may end. With `only_largest`
 * it is enough that the largest is right: tokens are tried in the order of their scores, and only if many do not fit
 * are all looked at. `*left` is 0 if no token that fits has a score above -INFINITY. */
int graft_matcher_mask(struct graft_matcher *matcher, const struct graft_matcher_ends *ends, int only_largest,
                       float *scores, size_t n, int *left, struct graft_error *error);

#endif
