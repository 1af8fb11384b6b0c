/* SPDX-License-Identifier: Apache-2.0 */
/* A set of byte strings, of which the longest that starts at a place is found. */
#ifndef GRAFT_TOKENIZER_TRIE_H
#define GRAFT_TOKENIZER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer/map.h"

/* Starts as {0}. */
struct graft_trie {
    struct graft_map edges; /* node << 8 | byte → node; node 0 is the root */
    int32_t *values;        /* [nodes] of the string that ends in the node, or -1; none for the root */
    size_t nodes;           /* without the root */
    size_t capacity;
    unsigned char starts[256]; /* whether some string starts with this byte */
};

/* [load] Adds a string that is not empty; a string that is there already keeps its value. Returns 0, or -1 out of
 * memory. */
int graft_trie_add(struct graft_trie *trie, const char *bytes, size_t length, int32_t value);

/* [any] Length of the longest string that `bytes` begins with, and its value; 0 when there is none. */
size_t graft_trie_longest(const struct graft_trie *trie, const char *bytes, size_t length, int32_t *value);

void graft_trie_free(struct graft_trie *trie);

#endif
