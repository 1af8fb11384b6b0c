/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct entry {
    const char *bytes;
    size_t length;
    int32_t id;
};

static int compare(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order != 0) {
        return order;
    }
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return (a->id > b->id) - (a->id < b->id);
}

static size_t shared(const struct entry *a, const struct entry *b) {
    size_t n = 0;
    while (n < a->length && n < b->length && a->bytes[n] == b->bytes[n]) {
        n++;
    }
    return n;
}

/* `path` holds the nodes of the last token's bytes, which are open until their subtree is complete. Closes those from
 * `depth` on. */
static void close_to(struct graft_trie *trie, int32_t *path, size_t *open, size_t depth) {
    while (*open > depth) {
        trie->nodes[path[--*open]].end = (int32_t)trie->n_nodes;
    }
}

/* Builds the nodes from entries that are sorted by their bytes. */
static int build(struct graft_trie *trie, const struct entry *entries, size_t n) {
    size_t open = 0, most = 0;
    int32_t *path = graft_alloc(trie->deepest + 1, sizeof *path);
    for (size_t i = 0; i < n; i++) {
        most += entries[i].length - (i > 0 ? shared(&entries[i - 1], &entries[i]) : 0);
    }
    trie->nodes = most < INT32_MAX ? graft_alloc(most + 1, sizeof *trie->nodes) : NULL;
    trie->ids = graft_alloc(n, sizeof *trie->ids);
    if (path == NULL || trie->nodes == NULL || trie->ids == NULL) {
        graft_free(path);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        const struct entry *entry = &entries[i];
        close_to(trie, path, &open, i > 0 ? shared(entry - 1, entry) : 0);
        for (; open < entry->length; open++) {
            path[open] = (int32_t)trie->n_nodes;
            trie->nodes[trie->n_nodes++] = (struct graft_trie_node){
                .first_token = (int32_t)i, .depth = (uint16_t)open, .byte = (unsigned char)entry->bytes[open]};
        }
        trie->ids[trie->n_ids++] = entry->id;
    }
    close_to(trie, path, &open, 0);
    trie->nodes[trie->n_nodes].first_token = (int32_t)n;
    graft_free(path);
    return 0;
}

static int fill(struct graft_trie *trie) {
    struct entry *entries = graft_alloc(trie->size, sizeof *entries);
    size_t n = 0;
    if (entries == NULL) {
        return -1;
    }
    for (size_t id = 0; id < trie->size; id++) {
        const size_t length = trie->places[id + 1] - trie->places[id];
        if (length > 0 && length <= UINT16_MAX) {
            entries[n++] = (struct entry){trie->bytes + trie->places[id], length, (int32_t)id};
            trie->deepest = length > trie->deepest ? length : trie->deepest;
        }
    }
    qsort(entries, n, sizeof *entries, compare);
    const int failed = build(trie, entries, n);
    graft_free(entries);
    return failed;
}

struct graft_trie *graft_trie_create(char *bytes_take, size_t *places_take, size_t size) {
    struct graft_trie *trie = graft_alloc(1, sizeof *trie);
    if (trie == NULL) {
        graft_free(bytes_take);
        graft_free(places_take);
        return NULL;
    }
    trie->bytes = bytes_take;
    trie->places = places_take;
    trie->size = size;
    if (fill(trie) != 0) {
        graft_trie_destroy(trie);
        return NULL;
    }
    return trie;
}

void graft_trie_destroy(struct graft_trie *trie) {
    if (trie != NULL) {
        graft_free(trie->nodes);
        graft_free(trie->ids);
        graft_free(trie->bytes);
        graft_free(trie->places);
        graft_free(trie);
    }
}
