/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graft.threads/1: the host's threads. Plugins use these and never a thread pool of their own, so that all of the
 * process stays within `--threads`.
 */
#ifndef GRAFT_THREADS_H
#define GRAFT_THREADS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_THREADS_ID "graft.threads/1"

/* [any] Does the items [begin, end) of a loop, on any of the host's threads. */
typedef void (*graft_parallel_body)(void *data, int64_t begin, int64_t end);

struct graft_threads {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] Splits [0, items) into runs of at least `grain` items, calls `body` on each, and returns when all are done.
     * Inside a body a nested call runs serially. Which thread does which run is not defined, so results must not depend
     * on it. Errors are the body's to record in `data`. */
    void (*parallel_for)(int64_t items, int64_t grain, graft_parallel_body body, void *data);
    /* [any] How many threads parallel_for uses at most; 1 inside a body. */
    int32_t (*count)(void);
};

GRAFT_ASSERT_SIZE(struct graft_threads, 24);

#ifdef __cplusplus
}
#endif

#endif
