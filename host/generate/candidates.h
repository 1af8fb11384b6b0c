/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a vocabulary that top_k keeps. */
#ifndef GRAFT_GENERATE_CANDIDATES_H
#define GRAFT_GENERATE_CANDIDATES_H

#include <stdint.h>

struct graft_candidate {
    float logit;
    int32_t id;
    double probability; /* 0 until it is set */
};

/* [any] Gets the k largest of n scores, and those equal to the last of them: largest first, of equal ones the smaller
 * id first. NaN is never included. `candidates` and `room` have room for n; 0 < k <= n. Returns their number, which is
 * at least 1 if any score is a number. */
int64_t graft_candidates_take(const float *scores, int64_t n, int64_t k, struct graft_candidate *candidates,
                              struct graft_candidate *room);

#endif
