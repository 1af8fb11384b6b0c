/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the process, which are created when they are first needed, and kept. Loops follow each other closely,
 * so an idle thread polls for the next job for a moment before it sleeps; polling longer would take processor time from
 * other programs, and in the end from our own threads. Likewise nobody waits for a thread that has not started yet: the
 * thread that starts a job does all of it, unless others join in time. */
#ifndef GRAFT_KERNELS_POOL_H
#define GRAFT_KERNELS_POOL_H

#include <stdint.h>

/* Does parts of a job until none are left. `worker` is below the number of workers asked for, and 0 on the calling
 * thread. */
typedef void (*graft_pool_work)(void *data, int32_t worker);

/* [any] Runs `work` on this thread and on up to `workers` - 1 helpers, and returns when all have returned. While
 * another thread uses the pool, this thread runs the job alone. Must not be called from within a job. */
void graft_pool_run(int32_t workers, graft_pool_work work, void *data);

/* [any] Whether this thread is within a job. */
int graft_pool_is_inside(void);

/* [any] How many processors this process may use. */
int32_t graft_pool_processors(void);

#endif
