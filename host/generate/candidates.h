/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that top_k leaves of a vocabulary. */
#ifndef GRAFT_GENERATE_CANDIDATES_H
#define GRAFT_GENERATE_CANDIDATES_H

#include <stdint.h>

struct graft_candidate {
    float logit;
    int32_t id;
    double probability; /* 0 until somebody fills it in */
};

/* [any] The k largest of n scores, and what equals the last of them: the largest first, of equals the smaller id. NaN
 * is never among them. `candidates` and `room` have room for n; 0 < k <= n. Returns how many; at least one, where one
 * score is a number. */
int64_t graft_candidates_take(const float *scores, int64_t n, int64_t k, struct graft_candidate *candidates,
                              struct graft_candidate *room);

#endif
