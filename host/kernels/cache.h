/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of a session's sequences, one slot for each: keys and values, and states of modules. The functions here
 * keep the two in step. */
#ifndef GRAFT_KERNELS_CACHE_H
#define GRAFT_KERNELS_CACHE_H

#include "graft/batch.h"
#include "graft/call.h"
#include "kernels/kv_cache.h"
#include "kernels/states.h"

struct graft_cache {
    struct graft_kv_cache *kv;
    struct graft_states *states;
    int32_t slots;
    /* For a cache of some modules only: the cache of all, from which attention takes the keys and values of layers that
     * it shares and that this cache does not hold. NULL: there is none. */
    const struct graft_cache *lender;
};

/* A cache for sequences 0 .. slots - 1, all empty, with keys and values of `kv_dtype` as in kv_cache.h; NULL if memory
 * ran out. */
struct graft_cache *graft_cache_create(int32_t slots, graft_dtype kv_dtype);
void graft_cache_destroy(struct graft_cache *cache);

/* Rewinds a slot to its first `length` tokens, or to fewer if states cannot be restored for that length; `reached` is
 * the resulting length. The lengths before the last step and before a failed step can always be restored; 0 empties the
 * slot. */
int graft_cache_rewind(struct graft_cache *cache, int32_t slot, int64_t length, int64_t *reached,
                       struct graft_error *error);

/* Copies slot `from` to slot `to`; on failure `to` is empty. */
int graft_cache_fork(struct graft_cache *cache, int32_t from, int32_t to, struct graft_error *error);

/* Copies the first `length` tokens of slot `from` of `source` to another slot of `target`, which may be the same cache,
 * if the states after that many tokens still exist; keys and values always do. `*done` says whether they did; if not,
 * slot `to` is unchanged. On failure `to` is empty. */
int graft_cache_share(const struct graft_cache *source, int32_t from, struct graft_cache *target, int32_t to,
                      int64_t length, int *done, struct graft_error *error);

/* Empties a slot and frees its memory. */
void graft_cache_release(struct graft_cache *cache, int32_t slot);

/* [forward] Implements graft_state_get (graft/state.h). */
void *graft_cache_state(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                        int32_t sequence, struct graft_error *error);

#endif
