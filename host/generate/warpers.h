/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a vocabulary to draw from: the warpers of the reference, in its order. Each keeps the first of the
 * candidates, which are sorted, but for typical_p, which keeps some and puts the rest behind them.
 */
#ifndef GRAFT_GENERATE_WARPERS_H
#define GRAFT_GENERATE_WARPERS_H

#include "generate/candidates.h"
#include "graft/host/generate.h"

/* [any] Whether nothing but temperature and top_p leaves fewer tokens than the `n` that there are. */
int graft_warpers_are_few(const struct graft_generation *generation, int64_t n);

/* [any] The tokens that are left of n scores, and their scores: the largest first. At least `least` are kept, if there
 * are as many. `candidates` and `room` have room for n. Returns how many; at least one, where one score is a number. */
int64_t graft_warpers_run(const struct graft_generation *generation, const float *scores, int64_t n, int64_t least,
                          struct graft_candidate *candidates, struct graft_candidate *room);

/* [any] Gives each candidate its probability among them. */
void graft_warpers_weigh(struct graft_candidate *candidates, int64_t count);

#endif
