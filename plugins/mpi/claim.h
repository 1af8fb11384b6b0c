/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses, of the ranks that fail, the one that reports why all processes end. On one machine it is the first to count
 * itself in shared memory. On several machines it is the one whose message rank 0 receives: rank 0 posts a single
 * receive at the start, so MPI can complete it whenever rank 0 is in any MPI call. */
#ifndef MPI_CLAIM_H
#define MPI_CLAIM_H

#include <mpi.h>

/* [load] Called by the ranks of `comm`, after local_start; returns a status of MPI. */
int claim_start(MPI_Comm comm);
void claim_stop(void);

/* [any] Returns on one of the ranks that call it. The others wait until that rank ends them. */
void claim_abort(void);

#endif
