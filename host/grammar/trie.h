/* SPDX-License-Identifier: Apache-2.0 */
/* A trie over the bytes of a vocabulary's tokens: tokens with a common prefix share its nodes. Immutable once made. */
#ifndef GRAFT_GRAMMAR_TRIE_H
#define GRAFT_GRAMMAR_TRIE_H

#include <stddef.h>
#include <stdint.h>

struct graft_trie_node {
    int32_t end;         /* index after this node's subtree */
    int32_t first_token; /* tokens that end here: ids[first_token] up to, not including, the next node's first_token */
    uint16_t depth;      /* 0 for the first byte of a token */
    unsigned char byte;
};

struct graft_trie {
    struct graft_trie_node *nodes; /* [n_nodes + 1] in depth-first order: each node precedes its children */
    size_t n_nodes;
    int32_t *ids;   /* [n_ids] tokens sorted by their bytes, as the nodes are */
    size_t n_ids;   /* tokens that have bytes */
    char *bytes;    /* of all tokens, one after another */
    size_t *places; /* [size + 1] token `id` has bytes[places[id]] to bytes[places[id + 1] - 1] */
    size_t size;    /* of the vocabulary: ids are 0 .. size - 1 */
    size_t deepest; /* length of the longest token in bytes */
};

/* Makes the trie from `bytes` and `places` as above. Tokens without bytes, and those with more than 65,535, are left
 * out. Takes ownership of both arrays, even on failure. Returns NULL if memory ran out. */
struct graft_trie *graft_trie_create(char *bytes_take, size_t *places_take, size_t size);
void graft_trie_destroy(struct graft_trie *trie);

#endif
