/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/trie.h"

#include "base/alloc.h"

static uint64_t edge(uint64_t node, char byte) {
    return node << 8 | (unsigned char)byte;
}

static int add_node(struct graft_trie *trie, uint64_t from, char byte, uint64_t *node) {
    if (graft_grow(&trie->values, &trie->capacity, trie->nodes, sizeof *trie->values) != 0) {
        return -1;
    }
    trie->values[trie->nodes] = -1;
    *node = ++trie->nodes;
    return graft_map_set(&trie->edges, edge(from, byte), *node);
}

int graft_trie_add(struct graft_trie *trie, const char *bytes, size_t length, int32_t value) {
    uint64_t node = 0;
    for (size_t i = 0; i < length; i++) {
        const uint64_t *next = graft_map_get(&trie->edges, edge(node, bytes[i]));
        if (next != NULL) {
            node = *next;
        } else if (add_node(trie, node, bytes[i], &node) != 0) {
            return -1;
        }
    }
    if (trie->values[node - 1] < 0) {
        trie->values[node - 1] = value;
    }
    trie->starts[(unsigned char)bytes[0]] = 1;
    return 0;
}

size_t graft_trie_longest(const struct graft_trie *trie, const char *bytes, size_t length, int32_t *value) {
    uint64_t node = 0;
    size_t longest = 0;
    if (length == 0 || !trie->starts[(unsigned char)bytes[0]]) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        const uint64_t *next = graft_map_get(&trie->edges, edge(node, bytes[i]));
        if (next == NULL) {
            break;
        }
        node = *next;
        if (trie->values[node - 1] >= 0) {
            *value = trie->values[node - 1];
            longest = i + 1;
        }
    }
    return longest;
}

void graft_trie_free(struct graft_trie *trie) {
    graft_map_free(&trie->edges);
    graft_free(trie->values);
    *trie = (struct graft_trie){0};
}
