/* SPDX-License-Identifier: Apache-2.0 */
/* graft.threads/1: loops on the threads of the process (pool.h). */
#ifndef GRAFT_KERNELS_THREADS_H
#define GRAFT_KERNELS_THREADS_H

#include "graft/host/process.h" /* graft_threads_set_count */
#include "graft/threads.h"

/* Processes items [begin, end). `worker` is below graft_threads_workers(), and no two bodies that run at the same time
 * have the same. */
typedef void (*graft_worker_body)(void *data, int32_t worker, int64_t begin, int64_t end);

/* [any] The table for plugins and built-in classes. */
const struct graft_threads *graft_threads_get(void);

/* [any] The maximum number of workers of a loop that is started here; 1 inside a body. */
int32_t graft_threads_workers(void);

/* [any] Like parallel_for, for bodies that have something for each worker, such as scratch memory. */
void graft_threads_for_workers(int64_t items, int64_t grain, graft_worker_body body, void *data);

#endif
