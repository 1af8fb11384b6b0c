/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of a vocabulary by their bytes: a trie in two arrays, which says step by step which tokens a text begins
 * with. It is built once from all tokens.
 */
#ifndef GRAFT_TOKENIZER_LEXICON_H
#define GRAFT_TOKENIZER_LEXICON_H

#include <stddef.h>
#include <stdint.h>

/* A node of the trie. The child for a byte is at `base` ^ byte, if the node there names this one as its parent. */
struct graft_lexicon_node {
    uint32_t base;
    uint32_t parent;
    int32_t value; /* of the token that ends here, or -1 */
};

/* Starts as {0}, and can be searched once it was built. */
struct graft_lexicon {
    struct graft_lexicon_node *nodes; /* [n], of which number 0 is the root */
    size_t n;
};

struct graft_lexicon_entry {
    const char *bytes;
    uint32_t length;
    int32_t value; /* not negative */
};

/* [load] Builds the trie of `n` entries, which are put in order. An entry without bytes is left out; of equal ones the
 * largest value counts. Returns 0, or -1 out of memory. */
int graft_lexicon_build(struct graft_lexicon *lexicon, struct graft_lexicon_entry *entries, size_t n);

void graft_lexicon_free(struct graft_lexicon *lexicon);

/* [any] The node that `byte` leads to from `node`; 0 when no token goes on like this. */
static inline uint32_t graft_lexicon_step(const struct graft_lexicon *lexicon, uint32_t node, char byte) {
    uint32_t next = lexicon->nodes[node].base ^ (unsigned char)byte;
    return lexicon->nodes[next].parent == node ? next : 0;
}

/* [any] Length of the longest token whose bytes, behind those that led to `node`, `bytes` begins with, and its value; 0
 * when there is none. */
size_t graft_lexicon_longest(const struct graft_lexicon *lexicon, uint32_t node, const char *bytes, size_t length,
                             int32_t *value);

#endif
