/* SPDX-License-Identifier: Apache-2.0 */
/* A job and its client. */
#ifndef GRAFT_SERVE_ANSWER_JOB_H
#define GRAFT_SERVE_ANSWER_JOB_H

#include "serve/job.h"

/* Closes the connection, which ends the job. Accepts NULL. */
void graft_job_drop_client(struct graft_job *job);

/* Whether the client must send something within the timeout. It need not while it receives a stream, however long the
 * next token takes. */
void graft_job_await_client(const struct graft_job *job, int is_awaited);

/* Watches whether the client leaves, and how long the job takes. Returns -1 if memory ran out. */
int graft_job_watch(struct graft_job *job);

/* Limits what the jobs hold for images, whether there is room for so many bytes more. A single job may exceed the
 * limit. */
int graft_job_check_images(const struct graft_server *server, int64_t bytes, struct graft_fault *fault);

/* Stops watching whether the client leaves, as it is about to be answered. Returns its request; NULL if it has left. */
struct evhttp_request *graft_job_release(struct graft_job *job);

/* Add the job to the server's list, and remove it. */
void graft_job_link(struct graft_job *job);
void graft_job_unlink(struct graft_job *job);

/* The answer to a request to tokenize. The caller frees it; NULL if memory ran out. */
graft_json *graft_tokens_json(const struct graft_server *server, const struct graft_ids *ids);

/* The vectors of embeddings, as a document. */
graft_json *graft_job_vectors_json(const struct graft_job *job);

#endif
