/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cache.h"

#include <string.h>

#include "base/alloc.h"

struct graft_cache *graft_cache_create(int32_t slots, graft_dtype kv_dtype) {
    struct graft_cache *cache = graft_alloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    cache->slots = slots;
    cache->kv = graft_kv_cache_create(slots, kv_dtype);
    cache->states = graft_states_create(slots);
    if (cache->kv == NULL || cache->states == NULL) {
        graft_cache_destroy(cache);
        return NULL;
    }
    return cache;
}

void graft_cache_destroy(struct graft_cache *cache) {
    if (cache != NULL) {
        graft_kv_cache_destroy(cache->kv);
        graft_states_destroy(cache->states);
        graft_free(cache);
    }
}

int graft_cache_rewind(struct graft_cache *cache, int32_t slot, int64_t length, int64_t *reached,
                       struct graft_error *error) {
    int status = graft_kv_cache_truncate(cache->kv, slot, length, error);
    if (status == GRAFT_OK) {
        *reached = graft_states_reach(cache->states, slot, length);
        graft_states_rewind(cache->states, slot, *reached);
        status = graft_kv_cache_truncate(cache->kv, slot, *reached, error);
    }
    return status;
}

static int copy(const struct graft_cache *source, int32_t from, struct graft_cache *target, int32_t to, int64_t length,
                struct graft_error *error) {
    int64_t reached;
    int status = graft_kv_cache_copy(source->kv, from, target->kv, to, length, error);
    if (status == GRAFT_OK) {
        status = graft_states_copy(source->states, from, target->states, to, error);
    }
    if (status != GRAFT_OK) {
        (void)graft_cache_rewind(target, to, 0, &reached, NULL);
    }
    return status;
}

int graft_cache_fork(struct graft_cache *cache, int32_t from, int32_t to, struct graft_error *error) {
    return from == to ? GRAFT_OK : copy(cache, from, cache, to, INT64_MAX, error);
}

int graft_cache_share(const struct graft_cache *source, int32_t from, struct graft_cache *target, int32_t to,
                      int64_t length, int *done, struct graft_error *error) {
    int is_known = graft_states_is_at(source->states, from, length);
    int status = is_known ? copy(source, from, target, to, length, error) : GRAFT_OK;
    *done = is_known && status == GRAFT_OK;
    return status;
}

void graft_cache_release(struct graft_cache *cache, int32_t slot) {
    graft_kv_cache_release(cache->kv, slot);
    graft_states_release(cache->states, slot);
}

/* Makes an empty state for a call without a cache, where every forward starts its sequences anew. */
static void *fresh(const struct graft_call *call, const struct graft_state *state, struct graft_error *error) {
    void *data = call->scratch_alloc(call->scratch, state->bytes);
    if (data == NULL) {
        (void)graft_fail_memory(error, "");
        return NULL;
    }
    return memset(data, 0, (size_t)state->bytes);
}

void *graft_cache_state(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                        int32_t sequence, struct graft_error *error) {
    if (sequence < 0 || sequence >= batch->sequences) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "state: there is no sequence %d, only %d", (int)sequence,
                              (int)batch->sequences);
        return NULL;
    }
    int64_t first = batch->cu_seqlens[sequence];
    int64_t tokens = batch->cu_seqlens[sequence + 1] - first;
    void *data = NULL;
    if (tokens <= 0) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "state: sequence %d has no tokens in this batch",
                              (int)sequence);
        return NULL;
    }
    if (batch->cache == NULL) {
        return fresh(call, state, error);
    }
    int status = graft_states_step(batch->cache->states, state, batch->slots[sequence], batch->positions[first], tokens,
                                   &data, error);
    return status == GRAFT_OK ? data : NULL;
}
