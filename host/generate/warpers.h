/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces a vocabulary to the tokens to draw from: the reference's warpers, in its order. Candidates are sorted, and
 * each warper keeps the first of them, except for typical_p, which moves the dropped ones to the end. */
#ifndef GRAFT_GENERATE_WARPERS_H
#define GRAFT_GENERATE_WARPERS_H

#include "generate/candidates.h"
#include "graft/host/generate.h"

/* [any] Whether only temperature and top_p, of all warpers, reduce the `n` tokens. */
int graft_warpers_are_few(const struct graft_generation *generation, int64_t n);

/* [any] Gets the tokens that are left of n scores, with their scores, largest first. At least `least` are kept, if
 * there are that many. `candidates` and `room` have room for n. Returns their number, which is at least 1 if any score
 * is a number. */
int64_t graft_warpers_run(const struct graft_generation *generation, const float *scores, int64_t n, int64_t least,
                          struct graft_candidate *candidates, struct graft_candidate *room);

/* [any] Sets each candidate's probability among the candidates. */
void graft_warpers_weigh(struct graft_candidate *candidates, int64_t count);

#endif
