/* SPDX-License-Identifier: Apache-2.0 */
/* Running a built model on token ids, with a cache of what they leave behind. One thread uses a session at a time. */
#ifndef GRAFT_GENERATE_SESSION_H
#define GRAFT_GENERATE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "graft/call.h"
#include "graft/dtype.h"
#include "graft/error.h"
#include "graft/image.h"
#include "graft/module.h"

/* Token ids of one sequence, and the images and videos that are placed among them. */
struct graft_ids_view {
    const int32_t *ids;
    size_t count;
    const struct graft_image *images; /* [n_images], in the order of their tokens */
    size_t n_images;
    const int32_t *source; /* [n_source] the encoder's input; given where the sequence starts */
    size_t n_source;
};

struct graft_session;

/* [load] A session of `slots` sequences on a module of interface graft.causal_lm/1, which outlives it. Keys and values
 * are kept as `kv_dtype`: GRAFT_DTYPE_F32 or GRAFT_DTYPE_BF16. */
int graft_session_create(const struct graft_module *model, int64_t vocab_size, int32_t precision, graft_dtype kv_dtype,
                         int32_t slots, struct graft_session **session, struct graft_error *error);
void graft_session_free(struct graft_session *session);

/* From now on a step to a position beyond the first `max_positions` is an error (GRAFT_ERROR_USAGE); 0: there is no
 * last one. */
void graft_session_limit(struct graft_session *session, int64_t max_positions);

/* From now on what a sequence of up to `length` tokens has left behind is of no use to a longer one, whose keys are
 * rotated otherwise (0: it always is of use): who feeds the session rewinds to the start there. */
void graft_session_set_renewal(struct graft_session *session, int64_t length);
int64_t graft_session_renewal(const struct graft_session *session);

/* From now on a forward takes about `tokens` tokens at most, and a step of more several forwards, one after another, so
 * that memory does not grow with prompts (0, as at first: each step is one). Not for models whose modules hold states,
 * which are known before the last forward only. */
void graft_session_set_portion(struct graft_session *session, int64_t tokens);

/* What was chosen by name, for the forwards from now on (NULL: nothing); both outlive the session. `asked_attention`:
 * whether classes must not choose another attention. */
void graft_session_use(struct graft_session *session, const struct graft_attention_implementation *attention,
                       int32_t asked_attention, const struct graft_experts_implementation *experts);

/* The adapter that takes effect on the sequence in a slot from now on, as in graft_batch; at first it is all of them.
 */
void graft_session_choose_adapter(struct graft_session *session, int32_t slot, int32_t adapter);

/* The model's layers are spread over so many processes: only rank 0 makes logits, and while one of several groups of
 * sequences is with another process, this one may take a step with the next. */
void graft_session_spread(struct graft_session *session, int32_t stages);

/* As said to graft_session_spread; 1 unless that was called. */
int32_t graft_session_stages(const struct graft_session *session);

/* Which rows of logits a step gives. */
enum graft_logits_rows {
    GRAFT_LOGITS_LAST, /* one per sequence: of its last token */
    GRAFT_LOGITS_ALL,  /* one per token */
    GRAFT_LOGITS_NONE
};

/* Appends `news[i]` (at least one id each) to the sequence in `slots[i]`, for `n` sequences as one ragged batch,
 * with their images if the model takes any. `logits` [rows, vocab_size] belongs to the session and is valid until its
 * next step; NULL where other processes make them. A step that fails leaves all sequences as they were. */
int graft_session_step(struct graft_session *session, const int32_t *slots, const struct graft_ids_view *news, size_t n,
                       enum graft_logits_rows which, const float **logits, struct graft_error *error);

/* Bytes of keys and values, or of what they are made from, that are kept of each token of the sequence in a slot. */
int64_t graft_session_token_bytes(const struct graft_session *session, int32_t slot);

/* Bytes that the states of the sequence in a slot take, however long it is. */
int64_t graft_session_state_bytes(const struct graft_session *session, int32_t slot);

/* The next sequence in a slot will have so many tokens, and room is made for them at once; 0: nobody knows. */
void graft_session_expect(struct graft_session *session, int32_t slot, int64_t tokens);

/* Empties a slot and frees what it takes. */
void graft_session_release(struct graft_session *session, int32_t slot);

/* Takes the sequence in a slot back to its first `length` tokens, or to fewer, `reached`: the caller feeds those in
 * between again. Keys and values can be cut anywhere. States of modules (graft/state.h) are known where they are,
 * before the last step, and at the start; rotary positions behind the last image, and at the start. A length of 0
 * empties the slot for another sequence. */
int graft_session_rewind(struct graft_session *session, int32_t slot, int64_t length, int64_t *reached,
                         struct graft_error *error);

/* Makes the sequence in slot `to` a copy of the one in slot `from`, which goes on by itself: to try several ways on, or
 * to come back to this place. On failure slot `to` is empty. */
int graft_session_fork(struct graft_session *session, int32_t from, int32_t to, struct graft_error *error);

/* The cache that holds the keys and values of all slots. */
struct graft_kv_cache;
struct graft_kv_cache *graft_session_kv(const struct graft_session *session);

/* Tells the session that the caller has put the keys and values of `length` tokens into an empty slot. */
void graft_session_set_length(struct graft_session *session, int32_t slot, int64_t length);

/* Makes the sequence in slot `to` a copy of the first `length` tokens of the one in slot `from`, none of them behind an
 * image; `*done` is then 1. Where states of modules are elsewhere it is 0, and nothing changes. On failure slot `to` is
 * empty. */
int graft_session_share(struct graft_session *session, int32_t from, int32_t to, int64_t length, int *done,
                        struct graft_error *error);

#endif
