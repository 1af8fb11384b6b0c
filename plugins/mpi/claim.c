/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* nanosleep, pause */
#include "claim.h"

#include <time.h>
#include <unistd.h>

#include "local.h"

/* Rank 0 of another machine may be computing, or stuck. A rank whose message rank 0 has received has PATIENCE
 * milliseconds to end all processes; after that a rank reports without having been received. Each rank waits MORE
 * milliseconds longer than the one before it. */
enum { PATIENCE = 3000, MORE = 100 };

enum { TAG = 32767 /* the highest tag that every MPI supports, above all tags of graft/parallel.h */ };

static MPI_Comm everyone;
static MPI_Request first = MPI_REQUEST_NULL; /* the message that rank 0 waits for */
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

/* Sends synchronously: the send completes when rank 0 receives the message. */
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
