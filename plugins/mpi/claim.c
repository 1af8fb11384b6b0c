/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* nanosleep, pause */
#include "claim.h"

#include <time.h>
#include <unistd.h>

#include "local.h"

/* Rank 0 of another machine may be computing, or stuck: so many milliseconds are enough for whoever has been received
 * to end all, and thereafter a rank tells unheard. Each waits a little longer than the one before it. */
enum { PATIENCE = 3000, MORE = 100 };

enum { TAG = 32767 /* the highest that every MPI has: above all of graft/parallel.h */ };

static MPI_Comm everyone;
static MPI_Request first = MPI_REQUEST_NULL; /* what rank 0 waits for */
static int rank;

int claim_start(MPI_Comm comm) {
    everyone = comm;
    (void)MPI_Comm_rank(comm, &rank);
    return rank == 0 && !local_is_there() ? MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG, comm, &first)
                                          : MPI_SUCCESS;
}

void claim_stop(void) {
    if (first != MPI_REQUEST_NULL) {
        (void)MPI_Cancel(&first);
        (void)MPI_Wait(&first, MPI_STATUS_IGNORE);
    }
}

/* Synchronous: it is done when it is received. */
static void wait_for_rank_0(void) {
    const struct timespec moment = {0, 1000000L};
    MPI_Request claim;
    int received = 0;
    int code = MPI_Issend(NULL, 0, MPI_BYTE, 0, TAG, everyone, &claim);
    for (int i = 0; code == MPI_SUCCESS && !received && i < PATIENCE + MORE * rank; i++) {
        (void)nanosleep(&moment, NULL);
        code = MPI_Test(&claim, &received, MPI_STATUS_IGNORE);
    }
}

void claim_abort(void) {
    if (!local_is_there()) {
        wait_for_rank_0();
    } else if (!local_is_first()) {
        for (;;) {
            (void)pause();
        }
    }
}
