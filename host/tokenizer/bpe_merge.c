/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/bpe_merge.h"

#include "base/alloc.h"

#define NONE UINT32_MAX

void graft_merge_begin(struct graft_merge_work *work) {
    work->n = 0;
    work->heap_n = 0;
}

void graft_merge_add(struct graft_merge_work *work, int32_t id) {
    uint32_t index = (uint32_t)work->n;
    if (work->failed || work->n >= NONE - 1 ||
        graft_grow(&work->symbols, &work->symbols_capacity, work->n, sizeof *work->symbols) != 0) {
        work->failed = 1;
        return;
    }
    work->symbols[work->n++] = (struct graft_symbol){id, index == 0 ? NONE : index - 1, NONE};
    if (index > 0) {
        work->symbols[index - 1].next = index;
    }
}

/* Lower rank first, and of equal ranks the leftmost. */
static int goes_before(const struct graft_candidate *a, const struct graft_candidate *b) {
    return a->rank != b->rank ? a->rank < b->rank : a->left < b->left;
}

static void push(struct graft_merge_work *work, struct graft_candidate candidate) {
    if (graft_grow(&work->heap, &work->heap_capacity, work->heap_n, sizeof *work->heap) != 0) {
        work->failed = 1;
        return;
    }
    size_t i = work->heap_n++;
    while (i > 0 && goes_before(&candidate, &work->heap[(i - 1) / 2])) {
        work->heap[i] = work->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    work->heap[i] = candidate;
}

static struct graft_candidate pop(struct graft_merge_work *work) {
    struct graft_candidate top = work->heap[0];
    struct graft_candidate last = work->heap[--work->heap_n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= work->heap_n) {
            break;
        }
        child += child + 1 < work->heap_n && goes_before(&work->heap[child + 1], &work->heap[child]);
        if (!goes_before(&work->heap[child], &last)) {
            break;
        }
        work->heap[i] = work->heap[child];
        i = child;
    }
    work->heap[i] = last;
    return top;
}

/* Adds the symbol and its right neighbour to the candidates, if they can merge. */
static void consider(struct graft_merge_work *work, const struct graft_map *merges, uint32_t left) {
    uint32_t right = left == NONE ? NONE : work->symbols[left].next;
    if (right == NONE) {
        return;
    }
    int32_t left_id = work->symbols[left].id, right_id = work->symbols[right].id;
    const uint64_t *merge = graft_map_get(merges, graft_merge_key(left_id, right_id));
    if (merge != NULL) {
        push(work, (struct graft_candidate){(uint32_t)(*merge >> 32), left, left_id, right_id, (int32_t)*merge});
    }
}

/* Merges a candidate's two symbols, unless one of them has been merged with another since the candidate was added. */
static void merge(struct graft_merge_work *work, const struct graft_map *merges,
                  const struct graft_candidate *candidate) {
    struct graft_symbol *left = &work->symbols[candidate->left];
    if (left->id != candidate->left_id || left->next == NONE || work->symbols[left->next].id != candidate->right_id) {
        return;
    }
    struct graft_symbol *right = &work->symbols[left->next];
    left->id = candidate->merged_id;
    left->next = right->next;
    right->id = -1;
    if (left->next != NONE) {
        work->symbols[left->next].previous = candidate->left;
    }
    consider(work, merges, left->previous);
    consider(work, merges, candidate->left);
}

void graft_merge_finish(struct graft_merge_work *work, const struct graft_map *merges, struct graft_ids *out) {
    for (uint32_t i = 0; i + 1 < work->n && !work->failed; i++) {
        consider(work, merges, i);
    }
    while (work->heap_n > 0 && !work->failed) {
        struct graft_candidate candidate = pop(work);
        merge(work, merges, &candidate);
    }
    for (uint32_t i = 0; i < work->n && !work->failed; i = work->symbols[i].next) {
        graft_ids_add(out, work->symbols[i].id);
    }
}

void graft_merge_free(struct graft_merge_work *work) {
    graft_free(work->symbols);
    graft_free(work->heap);
    *work = (struct graft_merge_work){0};
}
