/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graft.parallel/1: the processes that run one model together. Each has a rank, from 0 to size - 1; all load the same
 * model with the same plugins and take the same steps. Without `--parallel` there is one, of rank 0.
 *
 * Calls are made by one thread at a time. What one rank calls for all, the others call too, in the same order. A call
 * that fails, fails for good: the rank returns the error, and the host ends all of them.
 */
#ifndef GRAFT_PARALLEL_H
#define GRAFT_PARALLEL_H

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_PARALLEL_ID "graft.parallel/1"

enum {
    GRAFT_PARALLEL_MAX_TAG = 255 /* from here on tags are the host's */
};

/* What a rank has spent on the others. */
struct graft_parallel_statistics {
    uint32_t struct_size; /* set by who asks */
    uint32_t reserved;
    int64_t calls;          /* of the functions below */
    int64_t bytes_sent;     /* by this rank: the bytes it gave to each call, however they travel */
    int64_t bytes_received; /* likewise */
    double seconds;         /* in calls, waiting included */
};

struct graft_parallel {
    uint32_t struct_size;
    int32_t rank;       /* 0 to size - 1 */
    int32_t size;       /* at least 1 */
    int32_t local_rank; /* among those on the same machine */
    int32_t local_size; /* their number */
    uint32_t reserved;
    /* [forward] values[i] = the sum of all ranks' values[i], added in the order of ranks whatever the network: the same
     * bits on each of them. */
    int (*allreduce)(float *values, int64_t count, struct graft_error *error);
    /* [any] all[r * bytes] = what rank r gives; `all` has size * bytes. */
    int (*allgather)(const void *own, int64_t bytes, void *all, struct graft_error *error);
    /* [any] `data` of `root` becomes that of all. */
    int (*broadcast)(void *data, int64_t bytes, int32_t root, struct graft_error *error);
    /* [forward] Gives `bytes` bytes to another rank. Returns once they may be overwritten, which need not be after the
     * other has asked for them. Between two ranks those of one tag (0 to GRAFT_PARALLEL_MAX_TAG - 1) arrive in order.
     */
    int (*send)(const void *data, int64_t bytes, int32_t to, int32_t tag, struct graft_error *error);
    /* [forward] Waits for just as many bytes from another rank. */
    int (*receive)(void *data, int64_t bytes, int32_t from, int32_t tag, struct graft_error *error);
    /* [any] Ends the processes of all ranks, with `status` as their exit status. Does not return. */
    void (*abort)(int32_t status);
    /* [any] Fills `statistics` in. */
    void (*statistics)(struct graft_parallel_statistics *statistics);
    /* [any] Optional, later than 1.0. For a rank that has failed, before it says why and calls `abort`: returns on one
     * of those that call it, soon and whatever the others do. On the rest it does not return: that one ends them. */
    void (*claim_abort)(void);
};

/* What a plugin brings that connects processes, in its descriptor; `--parallel ID` chooses it. */
struct graft_parallel_provider {
    uint32_t struct_size;
    uint32_t reserved;
    /* [load] Finds the other processes, once and before anything else is loaded. `*parallel` is the plugin's, const,
     * and valid until `stop` has returned. */
    int (*start)(const struct graft_parallel **parallel, struct graft_error *error);
    /* [load] Takes leave of the others, who do so too. Not called when the process ends with an error. */
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
