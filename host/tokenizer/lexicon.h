/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a vocabulary by their bytes: a double-array trie, which is walked byte by byte to find the tokens that
 * a text begins with. It is built once from all tokens. */
#ifndef GRAFT_TOKENIZER_LEXICON_H
#define GRAFT_TOKENIZER_LEXICON_H

#include <stddef.h>
#include <stdint.h>

/* A node of the trie. The child for a byte is at index `base` ^ byte, if the node there has this one as its parent. */
struct graft_lexicon_node {
    uint32_t base;
    uint32_t parent;
    int32_t value; /* value of the token that ends here, or -1 */
};

/* Starts as {0}; it cannot be searched before it is built. */
struct graft_lexicon {
    struct graft_lexicon_node *nodes; /* [n] node 0 is the root */
    size_t n;
};

struct graft_lexicon_entry {
    const char *bytes;
    uint32_t length;
    int32_t value; /* not negative */
};

/* [load] Builds the trie of `n` entries, and sorts these. Entries without bytes are left out; of equal ones the largest
 * value counts. Returns 0, or -1 if memory ran out. */
int graft_lexicon_build(struct graft_lexicon *lexicon, struct graft_lexicon_entry *entries, size_t n);

void graft_lexicon_free(struct graft_lexicon *lexicon);

/* [any] The child of `node` for `byte`; 0 if no token continues with it. */
static inline uint32_t graft_lexicon_step(const struct graft_lexicon *lexicon, uint32_t node, char byte) {
    uint32_t next = lexicon->nodes[node].base ^ (unsigned char)byte;
    return lexicon->nodes[next].parent == node ? next : 0;
}

/* [any] The longest token that the bytes that led to `node`, continued by `bytes`, begin with: its length beyond `node`
 * and its value; 0 if there is none. */
size_t graft_lexicon_longest(const struct graft_lexicon *lexicon, uint32_t node, const char *bytes, size_t length,
                             int32_t *value);

#endif
