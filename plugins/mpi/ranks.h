/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of ranks.so to the plugin. */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include "graft/parallel.h"

GRAFT_EXPORT extern const struct graft_parallel_provider mpi_ranks;

#endif
