/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/candidates.h"

#include <math.h>
#include <string.h>

/* How many bits of a rank are processed at once. */
enum { DIGIT = 8, VALUES = 1 << DIGIT };

/* Moves heap[at] down in a heap with the smallest number on top. */
static void sift_down(float *heap, int64_t n, int64_t at) {
    for (;;) {
        int64_t least = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++) {
            least = heap[child] < heap[least] ? child : least;
        }
        if (least == at) {
            return;
        }
        float swapped = heap[at];
        heap[at] = heap[least];
        heap[least] = swapped;
        at = least;
    }
}

/* NaN counts as smallest. */
static float number_of(float score) {
    return score > -INFINITY ? score : -INFINITY;
}

/* The k-th largest score; fast for small k. `heap` has room for k. */
static float kth_of_heap(const float *scores, int64_t n, int64_t k, float *heap) {
    for (int64_t i = 0; i < k; i++) {
        heap[i] = number_of(scores[i]);
    }
    for (int64_t i = k / 2; i-- > 0;) {
        sift_down(heap, k, i);
    }
    for (int64_t i = k; i < n; i++) {
        if (scores[i] > heap[0]) {
            heap[0] = scores[i];
            sift_down(heap, k, 0);
        }
    }
    return heap[0];
}

/* Maps the bits of a score to its rank, and back: larger scores have smaller ranks. */
static uint32_t flip_order(uint32_t bits) {
    return bits ^ (0x7fffffffu & ((bits >> 31) - 1)); /* branchless, because the sign could not be predicted */
}

static uint32_t rank_of(float score) {
    float number = number_of(score) + 0.0F; /* turns -0 into 0 */
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return flip_order(bits);
}

/* The k-th largest score; equally fast for any k. It finds the bits of the rank from the number of ranks that begin
 * with the bits known so far. */
static float kth_by_bits(const float *scores, int64_t n, int64_t k) {
    uint32_t rank = 0, known = 0;
    float score;
    for (int shift = 32 - DIGIT; shift >= 0; shift -= DIGIT) {
        int64_t counts[VALUES] = {0};
        uint32_t digit = 0;
        for (int64_t i = 0; i < n; i++) {
            const uint32_t here = rank_of(scores[i]);
            counts[here >> shift & (VALUES - 1)] += (here & known) == rank;
        }
        for (; counts[digit] < k; digit++) {
            k -= counts[digit];
        }
        rank |= digit << shift;
        known |= (uint32_t)(VALUES - 1) << shift;
    }
    rank = flip_order(rank);
    memcpy(&score, &rank, sizeof score);
    return score;
}

/* Sorts candidates: largest first, of equal ones the smaller id first. A radix sort: moves the candidates to `sorted`
 * and back by the digits of their ranks, the last digit first. */
static void put_in_order(struct graft_candidate *candidates, struct graft_candidate *sorted, int64_t count) {
    for (int shift = 0; shift < 32; shift += DIGIT) {
        int64_t ends[VALUES + 1] = {0}; /* where candidates with smaller digits end */
        for (int64_t i = 0; i < count; i++) {
            ends[(rank_of(candidates[i].logit) >> shift & (VALUES - 1)) + 1]++;
        }
        for (int digit = 0; digit < VALUES; digit++) {
            ends[digit + 1] += ends[digit];
        }
        for (int64_t i = 0; i < count; i++) {
            sorted[ends[rank_of(candidates[i].logit) >> shift & (VALUES - 1)]++] = candidates[i];
        }
        struct graft_candidate *swapped = candidates;
        candidates = sorted;
        sorted = swapped;
    }
}

int64_t graft_candidates_take(const float *scores, int64_t n, int64_t k, struct graft_candidate *candidates,
                              struct graft_candidate *room) {
    enum { FEW = 1024 };
    float heap[FEW];
    float threshold = k <= FEW ? kth_of_heap(scores, n, k, heap) : kth_by_bits(scores, n, k);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (scores[i] >= threshold) {
            candidates[count++] = (struct graft_candidate){scores[i], (int32_t)i, 0.0};
        }
    }
    put_in_order(candidates, room, count);
    return count;
}
