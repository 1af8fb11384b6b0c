/* SPDX-License-Identifier: Apache-2.0 */
/* graft.threads/1: the host's threads. Plugins use these instead of a thread pool of their own, so that the whole
 * process keeps to `--threads`. */
#ifndef GRAFT_THREADS_H
#define GRAFT_THREADS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_THREADS_ID "graft.threads/1"

/* [any] Processes the items [begin, end) of a loop, on any of the host's threads. */
typedef void (*graft_parallel_body)(void *data, int64_t begin, int64_t end);

struct graft_threads {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] Splits [0, items) into ranges of at least `grain` items, calls `body` for each, and returns when all have
     * been processed. Inside a body a nested call runs serially. It is not defined which thread processes which range,
     * so results must not depend on it. A body records its errors in `data`. */
    void (*parallel_for)(int64_t items, int64_t grain, graft_parallel_body body, void *data);
    /* [any] The maximum number of threads that parallel_for uses; 1 inside a body. */
    int32_t (*count)(void);
};

GRAFT_ASSERT_SIZE(struct graft_threads, 24);

#ifdef __cplusplus
}
#endif

#endif
