/* SPDX-License-Identifier: Apache-2.0 */
/* Builds answers as OpenAI's JSON documents. */
#ifndef GRAFT_SERVE_ANSWER_H
#define GRAFT_SERVE_ANSWER_H

#include "serve/job.h"

/* The whole answer. The caller frees it; NULL if memory ran out. The same holds for the functions below. */
graft_json *graft_answer_json(const struct graft_job *job);

/* The first chunk of a choice in the stream of a chat. */
graft_json *graft_answer_first_chunk(const struct graft_job *job, size_t choice);
/* A chunk with the next `length` bytes of a choice's text, and the probabilities of a token (`info` may be NULL). */
graft_json *graft_answer_text_chunk(const struct graft_job *job, size_t choice, const char *text, size_t length,
                                    const struct graft_token_info *info);
/* The last chunk of a choice: its tool calls, and why it ends. */
graft_json *graft_answer_calls_chunk(const struct graft_job *job, size_t choice, graft_json *calls_take);
graft_json *graft_answer_end_chunk(const struct graft_job *job, size_t choice, const char *reason);
graft_json *graft_answer_usage_chunk(const struct graft_job *job);

/* {"prompt_tokens": ..., ...} */
graft_json *graft_answer_usage(const struct graft_job *job);

/* The logprobs of tokens: {"content": [...]} for chats, parallel lists for completions. */
graft_json *graft_answer_logprobs(const struct graft_job *job, const struct graft_token_info *infos, size_t n,
                                  size_t *offset);

/* --- Calls of tools --- */

/* Whether a token is one of the marks around tool calls. */
int graft_calls_is_mark(const char *token);

/* How many bytes of a growing text are certainly not a tool call or the beginning of one. `from` is the result for the
 * text so far, 0 at first; only the bytes after it are searched. */
size_t graft_calls_begin(const char *text, size_t length, size_t from);

/* Parses the tool calls of a complete text into an array as in messages; NULL if there is none or memory ran out, which
 * `*ran_out` tells.
 * `*content` becomes the number of bytes of text before the calls. `tools` are the request's; a call of any other tool
 * is text. */
graft_json *graft_calls_parse(struct graft_server *server, const char *text, size_t length, const graft_json *tools,
                              int may_be_many, size_t *content, int *ran_out);

#endif
