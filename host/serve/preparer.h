/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preparer: a thread that prepares requests with images, one after another. Decoding an image can take a second,
 * during which the loop would answer nobody and the engine would generate nothing.
 */
#ifndef GRAFT_SERVE_PREPARER_H
#define GRAFT_SERVE_PREPARER_H

#include "serve/job.h"

struct graft_preparer;

/* Starts the thread. `server` must outlive it, with an engine through which the preparer reports. */
int graft_preparer_start(struct graft_server *server, struct graft_preparer **preparer, struct graft_error *error);
/* Ends the thread; jobs that were not prepared are returned cancelled. Accepts NULL. */
void graft_preparer_stop(struct graft_preparer *preparer);

/* [any] Submits a job without prompts, which the preparer owns until its READ event: the job then has its images and
 * prompts, or a fault. */
void graft_preparer_submit(struct graft_preparer *preparer, struct graft_job *job);

#endif
