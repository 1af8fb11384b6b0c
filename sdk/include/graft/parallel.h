/* SPDX-License-Identifier: Apache-2.0 */
/* graft.parallel/1: the processes that run one model together. Each has a rank, from 0 to size - 1; all load the same
 * model with the same plugins and perform the same steps. Without `--parallel` there is one process, of rank 0.
 *
 * Calls are made by one thread at a time. All ranks make collective calls in the same order. If a call fails there is
 * no recovery: the rank returns the error, and the host ends all processes. */
#ifndef GRAFT_PARALLEL_H
#define GRAFT_PARALLEL_H

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_PARALLEL_ID "graft.parallel/1"

enum {
    GRAFT_PARALLEL_MAX_TAG = 255 /* tags from here on are reserved for the host */
};

/* What a rank has spent on communication. */
struct graft_parallel_statistics {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t calls;          /* number of calls of the functions below */
    int64_t bytes_sent;     /* bytes that this rank passed to the calls, whatever the network sends */
    int64_t bytes_received; /* likewise */
    double seconds;         /* time spent in calls, including waiting */
};

struct graft_parallel {
    uint32_t struct_size;
    int32_t rank;       /* 0 to size - 1 */
    int32_t size;       /* at least 1 */
    int32_t local_rank; /* rank among the processes on the same machine */
    int32_t local_size; /* their number */
    uint32_t reserved;
    /* [forward] values[i] = the sum of all ranks' values[i], added in the order of ranks on every network, so that all
     * ranks get the same bits. */
    int (*allreduce)(float *values, int64_t count, struct graft_error *error);
    /* [any] Copies rank r's `own` to all[r * bytes]; `all` has size * bytes. */
    int (*allgather)(const void *own, int64_t bytes, void *all, struct graft_error *error);
    /* [any] Copies `data` of the rank `root` to all ranks. */
    int (*broadcast)(void *data, int64_t bytes, int32_t root, struct graft_error *error);
    /* [forward] Sends `bytes` bytes to another rank. Returns once the buffer may be overwritten, which may be before
     * the other rank receives them. Messages between two ranks with the same tag (0 to GRAFT_PARALLEL_MAX_TAG - 1)
     * arrive in order. */
    int (*send)(const void *data, int64_t bytes, int32_t to, int32_t tag, struct graft_error *error);
    /* [forward] Waits for a message of that size from another rank. */
    int (*receive)(void *data, int64_t bytes, int32_t from, int32_t tag, struct graft_error *error);
    /* [any] Ends the processes of all ranks with `status` as exit status. Does not return. */
    void (*abort)(int32_t status);
    /* [any] Fills in `statistics`. */
    void (*statistics)(struct graft_parallel_statistics *statistics);
    /* [any] Optional, later than 1.0. Called by a rank that has failed, before it reports the error and calls `abort`.
     * It returns soon on one of the ranks that call it, whatever the others do. On the other ranks it does not return:
     * the first one ends them. */
    void (*claim_abort)(void);
};

/* A plugin's provider of communication between processes, listed in its descriptor; `--parallel ID` chooses it. */
struct graft_parallel_provider {
    uint32_t struct_size;
    uint32_t reserved;
    /* [load] Connects the processes; called once, before anything else is loaded. `*parallel` belongs to the plugin, is
     * const, and must stay valid until `stop` has returned. */
    int (*start)(const struct graft_parallel **parallel, struct graft_error *error);
    /* [load] Disconnects, on all ranks. Not called if the process ends with an error. */
    void (*stop)(void);
};

#define GRAFT_PARALLEL_PROVIDER_SIZE_1_0 GRAFT_END_OF(struct graft_parallel_provider, stop)
#define GRAFT_PARALLEL_SIZE_1_0 GRAFT_END_OF(struct graft_parallel, statistics)
#define GRAFT_PARALLEL_STATISTICS_SIZE_1_0 GRAFT_END_OF(struct graft_parallel_statistics, seconds)

GRAFT_ASSERT_SIZE(struct graft_parallel_statistics, 40);
GRAFT_ASSERT_SIZE(struct graft_parallel, 88);
GRAFT_ASSERT_SIZE(struct graft_parallel_provider, 24);

#ifdef __cplusplus
}
#endif

#endif
