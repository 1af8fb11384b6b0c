/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of processes on one machine: each writes its numbers into memory that the others read. A sum of one token's
 * hidden states takes a microsecond or two so, and who waits for the others lets them have the processor.
 */
#ifndef MPI_LOCAL_H
#define MPI_LOCAL_H

#include <mpi.h>
#include <stdint.h>

/* [load] Shares memory among the processes of `comm`, all of one machine; a status of MPI's. Who waits calls `on_wait`
 * time and again: what it has sent may need that to arrive. */
int local_start(MPI_Comm comm, void (*on_wait)(void));
void local_stop(void);

/* [any] Whether the memory is there. */
int local_is_there(void);

/* [forward] values[i] = the sum of all processes' values[i], added in the order of ranks. */
void local_sum(float *values, int64_t count);

/* [any] all[r * bytes] = what rank r gives. */
void local_gather(const void *own, int64_t bytes, void *all);

/* [any] Whether no other process has called this before. */
int local_is_first(void);

#endif
