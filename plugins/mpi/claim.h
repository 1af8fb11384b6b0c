/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who tells why all end: one of the ranks that fail. On one machine it is the first to count itself in memory that all
 * share. On several it is the one whose message rank 0 receives: it waits for a single one from the start, so MPI takes
 * that whenever rank 0 is within MPI, whatever it is doing there.
 */
#ifndef MPI_CLAIM_H
#define MPI_CLAIM_H

#include <mpi.h>

/* [load] For the ranks of `comm`, after local_start; a status of MPI's. */
int claim_start(MPI_Comm comm);
void claim_stop(void);

/* [any] Returns on one of the ranks that call it. The others wait for it to end them. */
void claim_abort(void);

#endif
