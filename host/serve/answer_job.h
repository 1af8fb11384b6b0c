/* SPDX-License-Identifier: Apache-2.0 */
/* A job and its client. */
#ifndef GRAFT_SERVE_ANSWER_JOB_H
#define GRAFT_SERVE_ANSWER_JOB_H

#include "serve/job.h"

/* Closes the connection, which ends the job. NULL: nothing. */
void graft_job_drop_client(struct graft_job *job);

/* The client is to be answered now, and nobody looks any more whether it leaves: its request, NULL where it has left.
 */
struct evhttp_request *graft_job_release(struct graft_job *job);

/* Puts the job into the server's list, and takes it out. */
void graft_job_link(struct graft_job *job);
void graft_job_unlink(struct graft_job *job);

/* The vectors of embeddings, as a document. */
graft_json *graft_job_vectors_json(const struct graft_job *job);

#endif
