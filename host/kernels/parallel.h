/* SPDX-License-Identifier: Apache-2.0 */
/* graft.threads/1: loops on the threads of the process (pool.h). */
#ifndef GRAFT_KERNELS_PARALLEL_H
#define GRAFT_KERNELS_PARALLEL_H

#include "graft/host/process.h" /* graft_threads_set_count */
#include "graft/threads.h"

/* Does the items [begin, end); `worker` is below graft_parallel_workers() and no two bodies run with the same at once.
 */
typedef void (*graft_worker_body)(void *data, int32_t worker, int64_t begin, int64_t end);

/* [any] The table that plugins and built-in classes are given. */
const struct graft_threads *graft_threads_get(void);

/* [any] How many workers a loop started here has at most; 1 inside a body. */
int32_t graft_parallel_workers(void);

/* [any] As parallel_for, for bodies that keep something per worker, such as scratch memory. */
void graft_parallel_for_workers(int64_t items, int64_t grain, graft_worker_body body, void *data);

#endif
