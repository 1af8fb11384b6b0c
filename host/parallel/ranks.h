/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that run a model together, as seen by this process. */
#ifndef GRAFT_PARALLEL_RANKS_H
#define GRAFT_PARALLEL_RANKS_H

#include "graft/parallel.h"

/* [any] The table of graft.parallel/1: a provider's, or that of a single process. */
const struct graft_parallel *graft_ranks_get(void);

/* [any] Whether this process has rank 0, which reads the user's input, chooses tokens, and writes output. */
int graft_ranks_leads(void);

/* [load] Sets the table of processes; NULL: this process alone. */
void graft_ranks_set(const struct graft_parallel *parallel);

#endif
