/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that mpirun started. Nothing else in the project uses MPI. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "claim.h"
#include "local.h"
#include "ranks.h"

enum { MAX_PENDING = 64, CHUNK = 1 << 30 };

/* A message on its way: a copy, so that the sender can continue at once. */
struct pending {
    MPI_Request request;
    void *bytes;
};

static struct pending pending[MAX_PENDING];
static int n_pending;
static MPI_Comm everyone = MPI_COMM_NULL;
static struct graft_parallel parallel;
static struct graft_parallel_statistics spent = {.struct_size = sizeof spent};
static struct timespec entered;

static int failed(const char *what, int code, struct graft_error *error) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)MPI_Error_string(code, words, &length);
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, "mpi", "%s failed: %.300s", what, words);
}

/* --- Statistics --- */

static void enter(void) {
    (void)clock_gettime(CLOCK_MONOTONIC, &entered);
}

static int leave(const char *what, int64_t sent, int64_t received, int code, struct graft_error *error) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    spent.seconds += (double)(now.tv_sec - entered.tv_sec) + 1e-9 * (double)(now.tv_nsec - entered.tv_nsec);
    spent.calls++;
    spent.bytes_sent += sent;
    spent.bytes_received += received;
    return code == MPI_SUCCESS ? GRAFT_OK : failed(what, code, error);
}

static void statistics(struct graft_parallel_statistics *to) {
    graft_struct_copy(to, to->struct_size, &spent);
}

/* --- Collective calls --- */

/* Counts of MPI are ints, so longer arrays are sent in pieces. */
static int piece(int64_t left) {
    return left < CHUNK ? (int)left : CHUNK;
}

static int allreduce(float *values, int64_t count, struct graft_error *error) {
    int code = MPI_SUCCESS;
    enter();
    if (local_is_there()) {
        local_sum(values, count);
        return leave("", count * (int64_t)sizeof *values, count * (int64_t)sizeof *values, code, error);
    }
    for (int64_t i = 0; i < count && code == MPI_SUCCESS; i += CHUNK) {
        code = MPI_Allreduce(MPI_IN_PLACE, values + i, piece(count - i), MPI_FLOAT, MPI_SUM, everyone);
    }
    return leave("MPI_Allreduce", count * (int64_t)sizeof *values, count * (int64_t)sizeof *values, code, error);
}

static int allgather(const void *own, int64_t bytes, void *all, struct graft_error *error) {
    if (bytes > CHUNK) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "mpi",
                               "allgather of %lld bytes for each process, expected at most %d", (long long)bytes,
                               CHUNK);
    }
    enter();
    if (local_is_there()) {
        local_gather(own, bytes, all);
        return leave("", bytes, bytes * (parallel.size - 1), MPI_SUCCESS, error);
    }
    int code = MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, everyone);
    return leave("MPI_Allgather", bytes, bytes * (parallel.size - 1), code, error);
}

static int broadcast(void *data, int64_t bytes, int32_t root, struct graft_error *error) {
    int code = MPI_SUCCESS;
    enter();
    for (int64_t i = 0; i < bytes && code == MPI_SUCCESS; i += CHUNK) {
        code = MPI_Bcast((char *)data + i, piece(bytes - i), MPI_BYTE, root, everyone);
    }
    int sends = parallel.rank == root;
    return leave("MPI_Bcast", sends ? bytes : 0, sends ? 0 : bytes, code, error);
}

/* --- Messages between two ranks --- */

/* Frees the copies of messages that have arrived. With `waits` it waits until the oldest one has. */
static int let_go(int waits) {
    int code = MPI_SUCCESS;
    int kept = 0;
    for (int i = 0; i < n_pending && code == MPI_SUCCESS; i++) {
        int done = 0;
        code = i == 0 && waits ? MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE)
                               : MPI_Test(&pending[i].request, &done, MPI_STATUS_IGNORE);
        if (done || pending[i].request == MPI_REQUEST_NULL) {
            free(pending[i].bytes);
        } else {
            pending[kept++] = pending[i];
        }
    }
    n_pending = code == MPI_SUCCESS ? kept : n_pending;
    return code;
}

/* The result is ignored: a failure here repeats in a call that can return an error. */
static void help_along(void) {
    (void)let_go(0);
}

static int start_piece(const char *data, int bytes, int32_t to, int32_t tag) {
    int code = let_go(n_pending == MAX_PENDING);
    struct pending *next = &pending[n_pending];
    if (code != MPI_SUCCESS) {
        return code;
    }
    next->bytes = malloc((size_t)bytes);
    if (next->bytes == NULL) {
        return MPI_ERR_NO_MEM;
    }
    memcpy(next->bytes, data, (size_t)bytes);
    code = MPI_Isend(next->bytes, bytes, MPI_BYTE, to, tag, everyone, &next->request);
    if (code == MPI_SUCCESS) {
        n_pending++;
    } else {
        free(next->bytes);
    }
    return code;
}

static int send_bytes(const void *data, int64_t bytes, int32_t to, int32_t tag, struct graft_error *error) {
    int code = MPI_SUCCESS;
    enter();
    for (int64_t i = 0; i < bytes && code == MPI_SUCCESS; i += CHUNK) {
        code = start_piece((const char *)data + i, piece(bytes - i), to, tag);
    }
    return leave("MPI_Isend", bytes, 0, code, error);
}

static int receive_bytes(void *data, int64_t bytes, int32_t from, int32_t tag, struct graft_error *error) {
    int code = MPI_SUCCESS;
    int64_t got = 0;
    enter();
    for (int64_t i = 0; i < bytes && code == MPI_SUCCESS; i += CHUNK) {
        MPI_Status status;
        int count = 0;
        code = MPI_Recv((char *)data + i, piece(bytes - i), MPI_BYTE, from, tag, everyone, &status);
        if (code == MPI_SUCCESS) {
            code = MPI_Get_count(&status, MPI_BYTE, &count);
        }
        got += count;
    }
    int result = leave("MPI_Recv", 0, got, code, error);
    return result != GRAFT_OK || got == bytes
               ? result
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, "mpi", "expected %lld bytes from rank %ld, got %lld",
                                 (long long)bytes, (long)from, (long long)got);
}

/* --- Start and stop --- */

static void end(int32_t status) {
    (void)MPI_Abort(everyone, status);
    abort();
}

static int find_ranks(struct graft_error *error) {
    MPI_Comm neighbours = MPI_COMM_NULL;
    int rank = 0, size = 1, local_rank = 0, local_size = 1;
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
    if (code == MPI_SUCCESS) {
        (void)MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN);
        (void)MPI_Comm_rank(everyone, &rank);
        (void)MPI_Comm_size(everyone, &size);
        code = MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &neighbours);
    }
    if (code == MPI_SUCCESS) {
        (void)MPI_Comm_rank(neighbours, &local_rank);
        (void)MPI_Comm_size(neighbours, &local_size);
        code = local_size == size && size > 1 ? local_start(neighbours, help_along) : MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_free(&neighbours);
    }
    if (code == MPI_SUCCESS) {
        code = claim_start(everyone);
    }
    parallel = (struct graft_parallel){
        .struct_size = sizeof parallel,
        .rank = rank,
        .size = size,
        .local_rank = local_rank,
        .local_size = local_size,
        .allreduce = allreduce,
        .allgather = allgather,
        .broadcast = broadcast,
        .send = send_bytes,
        .receive = receive_bytes,
        .abort = end,
        .statistics = statistics,
        .claim_abort = claim_abort,
    };
    return code == MPI_SUCCESS ? GRAFT_OK : failed("MPI_Comm_dup", code, error);
}

/* Called by one thread at a time, but not always by the same one. */
static int start(const struct graft_parallel **result, struct graft_error *error) {
    int level = MPI_THREAD_SINGLE;
    /* Waiting ranks yield the processor to their own threads, or to a rank on the same machine that they wait for. */
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) {
        return failed("MPI_Init_thread", code, error);
    }
    if (level < MPI_THREAD_SERIALIZED) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "mpi", "this MPI takes calls from one thread only");
    }
    *result = &parallel;
    return find_ranks(error);
}

static void stop(void) {
    for (int i = 0; i < n_pending; i++) {
        (void)MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE);
        free(pending[i].bytes);
    }
    n_pending = 0;
    claim_stop();
    local_stop();
    (void)MPI_Comm_free(&everyone);
    (void)MPI_Finalize();
}

const struct graft_parallel_provider mpi_ranks = {.struct_size = sizeof mpi_ranks, .start = start, .stop = stop};
