/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over processes on one machine: each writes its numbers to memory that the others read. Summing one token's
 * hidden states takes about two microseconds, and waiting processes yield the processor. */
#ifndef MPI_LOCAL_H
#define MPI_LOCAL_H

#include <mpi.h>
#include <stdint.h>

/* [load] Shares memory among the processes of `comm`, which are all on one machine; returns a status of MPI. A waiting
 * process calls `on_wait` repeatedly, because messages that it has sent may need that to arrive. */
int local_start(MPI_Comm comm, void (*on_wait)(void));
void local_stop(void);

/* [any] Whether the memory is shared. */
int local_is_there(void);

/* [forward] values[i] = the sum of all processes' values[i], added in the order of ranks. */
void local_sum(float *values, int64_t count);

/* [any] Copies rank r's `own` to all[r * bytes]. */
void local_gather(const void *own, int64_t bytes, void *all);

/* [any] Whether no other process has called this before. */
int local_is_first(void);

#endif
