/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that fail together, except for the first ones, which are stuck outside of MPI: one line is printed, and the
 * exit status is 3. With SHARES_MEMORY 0 the ranks do not use shared memory.
 *
 * usage: test_claim SHARES_MEMORY STUCK */
#define _POSIX_C_SOURCE 200809L /* pause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "claim.h"
#include "local.h"

static void do_nothing(void) {}

int main(int argc, char **argv) {
    int rank = 0;
    int code = MPI_Init(&argc, &argv);
    if (code == MPI_SUCCESS && argc == 3 && atoi(argv[1]) == 1) {
        code = local_start(MPI_COMM_WORLD, do_nothing);
    }
    if (code != MPI_SUCCESS || argc != 3 || claim_start(MPI_COMM_WORLD) != MPI_SUCCESS) {
        return 1;
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank < atoi(argv[2])) {
        (void)pause();
    }
    claim_abort();
    (void)fprintf(stderr, "rank %d tells why\n", rank);
    return MPI_Abort(MPI_COMM_WORLD, 3);
}
