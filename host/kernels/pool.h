/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's threads. They are made when first wanted, and stay.
 *
 * Loops follow each other closely, so a thread that has nothing to do looks for the next one for a moment; then it
 * sleeps. Were it to go on looking, it would take time from whoever else wants to run on this machine, and sooner or
 * later that would be one of our own. For the same reason nobody waits for a thread that has not begun: whoever starts
 * a job does all of it, unless others come in time to help.
 */
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
