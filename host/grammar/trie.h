/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a vocabulary's tokens, as a tree: tokens that begin alike share a way. Nothing changes once it is made.
 */
#ifndef GRAFT_GRAMMAR_TRIE_H
#define GRAFT_GRAMMAR_TRIE_H

#include <stddef.h>
#include <stdint.h>

struct graft_trie_node {
    int32_t end;         /* the node behind all that are below this one */
    int32_t first_token; /* those that end here are ids[first_token] up to the next node's first */
    uint16_t depth;      /* of the first byte of a token: 0 */
    unsigned char byte;
};

struct graft_trie {
    struct graft_trie_node *nodes; /* [n_nodes + 1], each before those below it */
    size_t n_nodes;
    int32_t *ids;   /* in the order of the nodes */
    size_t n_ids;   /* tokens that have bytes */
    char *bytes;    /* of all tokens */
    size_t *places; /* [size + 1] where the bytes of each id begin */
    size_t size;    /* ids */
    size_t deepest; /* bytes of the longest token */
};

/* Bytes of the tokens 0 .. size - 1, one after another: those of `id` are bytes[places[id]] up to places[id + 1]. One
 * without bytes is never found; one with more than 65,535 neither. Takes both arrays over, also on failure. Returns
 * NULL if memory ran out. */
struct graft_trie *graft_trie_create(char *bytes_take, size_t *places_take, size_t size);
void graft_trie_destroy(struct graft_trie *trie);

#endif
