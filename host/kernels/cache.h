/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sequences of a session left behind, a slot each: keys and values, and states of modules. What becomes of a
 * sequence happens to both here.
 */
#ifndef GRAFT_KERNELS_CACHE_H
#define GRAFT_KERNELS_CACHE_H

#include "graft/batch.h"
#include "graft/call.h"
#include "kernels/kv_cache.h"
#include "kernels/states.h"

struct graft_cache {
    struct graft_kv_cache *kv;
    struct graft_states *states;
};

/* A cache for sequences 0 .. slots - 1, all empty, with keys and values of `kv_dtype` as in kv_cache.h; NULL if memory
 * ran out. */
struct graft_cache *graft_cache_create(int32_t slots, graft_dtype kv_dtype);
void graft_cache_destroy(struct graft_cache *cache);

/* Takes a slot back to its first `length` tokens, or, where states cannot, to fewer: `reached`. The place before the
 * last step, or before one that failed, is always reached; 0 empties the slot. */
int graft_cache_rewind(struct graft_cache *cache, int32_t slot, int64_t length, int64_t *reached,
                       struct graft_error *error);

/* Makes slot `to` what slot `from` is; on failure it is empty. */
int graft_cache_fork(struct graft_cache *cache, int32_t from, int32_t to, struct graft_error *error);

/* Makes slot `to` the first `length` tokens of slot `from`, if those can be had: keys and values always, states where
 * they are; `*done` is then 1, or else 0, and slot `to` what it was. On failure it is empty. */
int graft_cache_share(struct graft_cache *cache, int32_t from, int32_t to, int64_t length, int *done,
                      struct graft_error *error);

/* Empties a slot and frees its memory. */
void graft_cache_release(struct graft_cache *cache, int32_t slot);

/* [forward] graft_state_get (graft/state.h). */
void *graft_cache_state(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                        int32_t sequence, struct graft_error *error);

#endif
