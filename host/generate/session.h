/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a built model on token ids, with a cache. A session is used by one thread at a time. */
#ifndef GRAFT_GENERATE_SESSION_H
#define GRAFT_GENERATE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "graft/call.h"
#include "graft/dtype.h"
#include "graft/error.h"
#include "graft/image.h"
#include "graft/module.h"

/* Token ids of one sequence, with the images and videos among them. */
struct graft_ids_view {
    const int32_t *ids;
    size_t count;
    const struct graft_image *images; /* [n_images], in the order of their tokens */
    size_t n_images;
    const int32_t *source; /* [n_source] the encoder's input; given where the sequence starts */
    size_t n_source;
};

struct graft_session;

/* [load] Creates a session of `slots` sequences for a module of interface graft.causal_lm/1, which must outlive it.
 * Cached keys and values have the type `kv_dtype`: GRAFT_DTYPE_F32 or GRAFT_DTYPE_BF16. */
int graft_session_create(const struct graft_module *model, int64_t vocab_size, int32_t precision, graft_dtype kv_dtype,
                         int32_t slots, struct graft_session **session, struct graft_error *error);
void graft_session_free(struct graft_session *session);

/* Limits positions: a later step beyond the first `max_positions` is an error (GRAFT_ERROR_USAGE); 0: no limit. */
void graft_session_limit(struct graft_session *session, int64_t max_positions);

/* Sets the length from which keys are rotated differently: what a sequence of up to `length` tokens has cached is
 * useless for a longer one, so the caller has to rewind it to the start (0: never). */
void graft_session_set_renewal(struct graft_session *session, int64_t length);
int64_t graft_session_renewal(const struct graft_session *session);

/* Limits a forward to about `tokens` tokens: a longer step runs several forwards, so that memory does not grow with
 * prompts (0, the default: one forward per step). Not for models with states, which exist only before the last forward.
 */
void graft_session_set_portion(struct graft_session *session, int64_t tokens);

/* Sets the implementations for later forwards (NULL: none); both must outlive the session. `asked_attention`: whether
 * classes must not choose another attention. */
void graft_session_use(struct graft_session *session, const struct graft_attention_implementation *attention,
                       int32_t asked_attention, const struct graft_experts_implementation *experts);

/* Sets the adapter of the sequence in a slot, as in graft_batch; by default all adapters apply. */
void graft_session_choose_adapter(struct graft_session *session, int32_t slot, int32_t adapter);

/* Declares that the model's layers are spread over `stages` processes: only rank 0 computes logits, and while another
 * process works on one group of sequences, this one may take a step with the next group. */
void graft_session_spread(struct graft_session *session, int32_t stages);

/* The number set by graft_session_spread; 1 by default. */
int32_t graft_session_stages(const struct graft_session *session);

/* The rows of logits that a step computes. */
enum graft_logits_rows {
    GRAFT_LOGITS_LAST, /* one per sequence, for its last token */
    GRAFT_LOGITS_ALL,  /* one per token */
    GRAFT_LOGITS_NONE
};

/* Appends `news[i]` (at least one id each) to the sequence in `slots[i]`, for `n` sequences as one ragged batch, with
 * their images if the model accepts any. `logits` [rows, vocab_size] belongs to the session and is valid until its next
 * step; NULL if other processes compute them. A step that fails leaves all sequences unchanged. */
int graft_session_step(struct graft_session *session, const int32_t *slots, const struct graft_ids_view *news, size_t n,
                       enum graft_logits_rows which, const float **logits, struct graft_error *error);

/* Bytes of keys and values, or of the latents that they are computed from, for each token of the sequence in a slot. */
int64_t graft_session_token_bytes(const struct graft_session *session, int32_t slot);

/* Bytes of the states of the sequence in a slot, whatever its length. */
int64_t graft_session_state_bytes(const struct graft_session *session, int32_t slot);

/* Announces that the next sequence in a slot will have `tokens` tokens, for which memory is then allocated at once; 0:
 * unknown. */
void graft_session_expect(struct graft_session *session, int32_t slot, int64_t tokens);

/* Empties a slot and frees its memory. */
void graft_session_release(struct graft_session *session, int32_t slot);

/* Rewinds the sequence in a slot to its first `length` tokens, or to fewer, `reached`: the caller feeds those in
 * between again. Keys and values can be truncated anywhere. States of modules (graft/state.h) can be restored at the
 * current position, before the last step, and at the start; rotary positions after the last image, and at the start. A
 * length of 0 empties the slot for another sequence. */
int graft_session_rewind(struct graft_session *session, int32_t slot, int64_t length, int64_t *reached,
                         struct graft_error *error);

/* Makes the sequence in slot `to` an independent copy of the one in slot `from`: to try several continuations, or to
 * return to this position. On failure slot `to` is empty. */
int graft_session_fork(struct graft_session *session, int32_t from, int32_t to, struct graft_error *error);

/* The cache that holds the keys and values of all slots. */
struct graft_kv_cache;
struct graft_kv_cache *graft_session_kv(const struct graft_session *session);

/* Tells the session that the caller has filled in the keys and values of `length` tokens in an empty slot. */
void graft_session_set_length(struct graft_session *session, int32_t slot, int64_t length);

/* Copies the first `length` tokens of the sequence in slot `from`, none of them after an image, to slot `to`; `*done`
 * is then 1. If states of modules are not available for that length, it is 0 and nothing changes. On failure slot `to`
 * is empty. */
int graft_session_share(struct graft_session *session, int32_t from, int32_t to, int64_t length, int *done,
                        struct graft_error *error);

#endif
