/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as OpenAI's documents. */
#ifndef GRAFT_SERVE_ANSWER_H
#define GRAFT_SERVE_ANSWER_H

#include "serve/job.h"

/* The whole answer; the caller's, NULL if memory ran out. So are those below. */
graft_json *graft_answer_json(const struct graft_job *job);

/* The beginning of a choice in a stream, of chats. */
graft_json *graft_answer_first_chunk(const struct graft_job *job, size_t choice);
/* The next `length` bytes of a choice's text, and what is known of a token (`info` may be NULL). */
graft_json *graft_answer_text_chunk(const struct graft_job *job, size_t choice, const char *text, size_t length,
                                    const struct graft_token_info *info);
/* The calls at the end of a choice, and why it ends. */
graft_json *graft_answer_calls_chunk(const struct graft_job *job, size_t choice, graft_json *calls_take);
graft_json *graft_answer_end_chunk(const struct graft_job *job, size_t choice, const char *reason);
graft_json *graft_answer_usage_chunk(const struct graft_job *job);

/* {"prompt_tokens": ..., ...} */
graft_json *graft_answer_usage(const struct graft_job *job);

/* How probable tokens were: of chats {"content": [...]}, of completions lists side by side. */
graft_json *graft_answer_logprobs(const struct graft_job *job, const struct graft_token_info *infos, size_t n,
                                  size_t *offset);

/* --- Calls of tools --- */

/* How many bytes of a text that is still growing are no call, nor the beginning of one. */
size_t graft_calls_begin(const char *text, size_t length);

/* The calls in a whole text: an array as in messages, NULL where there is none or memory ran out. `*content` is how
 * many bytes before them are text. `tools` are those of the request; a call of another one is text. */
graft_json *graft_calls_parse(struct graft_server *server, const char *text, size_t length, const graft_json *tools,
                              int may_be_many, size_t *content);

#endif
