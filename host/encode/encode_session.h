/* SPDX-License-Identifier: Apache-2.0 */
/* A session runs a module that reads whole texts, such as an encoder, on ragged batches: it checks the texts, makes the
 * arrays of the batch, and calls the module's interface. One thread uses it at a time. */
#ifndef GRAFT_ENCODE_ENCODE_SESSION_H
#define GRAFT_ENCODE_ENCODE_SESSION_H

#include "graft/host/encode.h"
#include "graft/module.h"

/* The bounds of token ids, token types and lengths. */
struct graft_encode_limits {
    int64_t vocab_size;
    int64_t token_types;
    int64_t max_tokens;
};

struct graft_encode_session;

/* [any] The task of models whose root has this interface; GRAFT_TASK_NONE if it has none. `answers`: whether a root
 * that classifies tokens says that it answers questions. */
int32_t graft_task_of(const char *interface_id, int answers);

/* [load] A session around a module of that interface, which has a task but does not generate, and outlives the session.
 * The caller frees it. */
int graft_encode_session_create(const struct graft_module *module, const char *interface_id,
                                const struct graft_encode_limits *limits, int32_t precision,
                                struct graft_encode_session **session, struct graft_error *error);
void graft_encode_session_free(struct graft_encode_session *session);

/* The attention implementation of the runs from now on (NULL: the default); it outlives the session. `asked`: whether
 * classes must not choose another. */
void graft_encode_session_use(struct graft_encode_session *session,
                              const struct graft_attention_implementation *attention, int32_t asked);

/* [forward] Runs `n` > 0 texts. */
int graft_encode_session_run(struct graft_encode_session *session, const struct graft_encoder_prompt *prompts, size_t n,
                             const struct graft_encoder_outputs *outputs, struct graft_error *error);

#endif
