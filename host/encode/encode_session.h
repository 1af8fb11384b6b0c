/* SPDX-License-Identifier: Apache-2.0 */
/* A session runs a module that reads whole texts, such as an encoder, on ragged batches: it checks the texts, makes the
 * arrays of the batch, and calls the module's interface. One thread uses it at a time. */
#ifndef GRAFT_ENCODE_ENCODE_SESSION_H
#define GRAFT_ENCODE_ENCODE_SESSION_H

#include "graft/host/encode.h"
#include "graft/module.h"

/* Limits on token ids, token types and lengths. */
struct graft_encode_limits {
    int64_t vocab_size;
    int64_t token_types;
    int64_t max_tokens;
};

struct graft_encode_session;

/* [any] The task of models whose root has this interface; GRAFT_TASK_NONE if there is none. `answers`: the root
 * classifies tokens, and says that the labels mark answers. */
int32_t graft_task_of(const char *interface_id, int answers);

/* [load] Creates a session for a module of that interface, which must have a task other than generating, and must
 * outlive the session. The caller frees it. */
int graft_encode_session_create(const struct graft_module *module, const char *interface_id,
                                const struct graft_encode_limits *limits, int32_t precision,
                                struct graft_encode_session **session, struct graft_error *error);
void graft_encode_session_free(struct graft_encode_session *session);

/* Sets the attention implementation for later runs (NULL: the default), which must outlive the session. With `asked`,
 * classes must not choose another one. */
void graft_encode_session_use(struct graft_encode_session *session,
                              const struct graft_attention_implementation *attention, int32_t asked);

/* [forward] Runs `n` > 0 texts as one batch. */
int graft_encode_session_run(struct graft_encode_session *session, const struct graft_encoder_prompt *prompts, size_t n,
                             const struct graft_encoder_outputs *outputs, struct graft_error *error);

#endif
