/* SPDX-License-Identifier: Apache-2.0 */
/* The heart of byte-pair encoding: neighbours of a word merge, the pair of lowest rank first. */
#ifndef GRAFT_TOKENIZER_BPE_MERGE_H
#define GRAFT_TOKENIZER_BPE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/host/tokenizer.h"
#include "tokenizer/map.h"

/* A symbol of the word, linked to its neighbours. One that went into its left neighbour has the id -1. */
struct graft_symbol {
    int32_t id;
    uint32_t previous;
    uint32_t next;
};

/* Two neighbours that could merge, as they were when this was noted. */
struct graft_candidate {
    uint32_t rank;
    uint32_t left; /* index of the left symbol */
    int32_t left_id;
    int32_t right_id;
    int32_t merged_id;
};

/* Memory that is used for one word after the other. Starts as {0}. */
struct graft_merge_work {
    struct graft_symbol *symbols; /* [n] */
    size_t n;
    size_t symbols_capacity;
    struct graft_candidate *heap; /* [heap_n], smallest first */
    size_t heap_n;
    size_t heap_capacity;
    int failed;
};

/* Key and value of a table of merges: the pair of ids; rank and id of what they become. */
static inline uint64_t graft_merge_key(int32_t left, int32_t right) {
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}
static inline uint64_t graft_merge_value(uint32_t rank, int32_t id) {
    return (uint64_t)rank << 32 | (uint32_t)id;
}

/* [any] Starts a word. */
void graft_merge_begin(struct graft_merge_work *work);
/* [any] Adds a symbol at the word's end; at most UINT32_MAX - 1. */
void graft_merge_add(struct graft_merge_work *work, int32_t id);
/* [any] Merges, and adds the ids that remain. Takes n log n steps. Sets `failed` if memory ran out. */
void graft_merge_finish(struct graft_merge_work *work, const struct graft_map *merges, struct graft_ids *out);

void graft_merge_free(struct graft_merge_work *work);

#endif
