/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-pair encoding's merges: of all pairs of neighbours in a word, the one of lowest rank merges first. */
#ifndef GRAFT_TOKENIZER_BPE_MERGE_H
#define GRAFT_TOKENIZER_BPE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/host/tokenizer.h"
#include "tokenizer/map.h"

/* A symbol of the word, linked to its neighbours. Its id is -1 once it has been merged into its left neighbour. */
struct graft_symbol {
    int32_t id;
    uint32_t previous;
    uint32_t next;
};

/* A pair of neighbours that could merge, as the two were when the candidate was added. */
struct graft_candidate {
    uint32_t rank;
    uint32_t left; /* index of the left symbol */
    int32_t left_id;
    int32_t right_id;
    int32_t merged_id;
};

/* Memory that is reused from word to word. Starts as {0}. */
struct graft_merge_work {
    struct graft_symbol *symbols; /* [n] */
    size_t n;
    size_t symbols_capacity;
    struct graft_candidate *heap; /* [heap_n] a heap, smallest first */
    size_t heap_n;
    size_t heap_capacity;
    int failed;
};

/* Keys and values of a table of merges: the key is the pair of ids, the value is rank and id of the merged token. */
static inline uint64_t graft_merge_key(int32_t left, int32_t right) {
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}
static inline uint64_t graft_merge_value(uint32_t rank, int32_t id) {
    return (uint64_t)rank << 32 | (uint32_t)id;
}

/* [any] Starts a word. */
void graft_merge_begin(struct graft_merge_work *work);
/* [any] Appends a symbol to the word; at most UINT32_MAX - 1 symbols. */
void graft_merge_add(struct graft_merge_work *work, int32_t id);
/* [any] Merges the word's symbols, and appends the remaining ids to `out`. O(n log n). Sets `failed` if memory ran out.
 */
void graft_merge_finish(struct graft_merge_work *work, const struct graft_map *merges, struct graft_ids *out);

void graft_merge_free(struct graft_merge_work *work);

#endif
