/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that run a model together, as this one sees them. */
#ifndef GRAFT_PARALLEL_RANKS_H
#define GRAFT_PARALLEL_RANKS_H

#include "graft/parallel.h"

/* [any] The table of graft.parallel/1: what a provider started, or this process alone. */
const struct graft_parallel *graft_ranks_get(void);

/* [any] Whether this process reads what the user gives, chooses tokens, and writes: rank 0. */
int graft_ranks_leads(void);

/* [load] From now on the processes are those; NULL: this one alone. */
void graft_ranks_set(const struct graft_parallel *parallel);

#endif
