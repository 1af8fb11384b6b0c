/* SPDX-License-Identifier: Apache-2.0 */
/* Caches for modules that are run alone: sessions' caches with slots that the caller chooses. */
#include "base/fail.h"
#include "kernels/cache.h"
#include "library/library.h"

int graft_model_create_cache(const struct graft_model *model, int32_t slots, struct graft_cache **cache,
                             struct graft_error *error) {
    if (slots < 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "cache", "slots: expected at least 1, got %ld", (long)slots);
    }
    struct graft_context *before = graft_model_begin(model);
    *cache = graft_cache_create(slots, graft_model_kv_dtype(model));
    (void)graft_context_enter(before);
    return *cache != NULL ? GRAFT_OK : graft_fail_memory(error, "cache");
}

void graft_cache_free(struct graft_cache *cache) {
    graft_cache_destroy(cache);
}

static int check_slot(const struct graft_cache *cache, int32_t slot, int64_t length, struct graft_error *error) {
    if (slot < 0 || slot >= cache->slots) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "cache", "slot: %ld is not below %ld", (long)slot,
                               (long)cache->slots);
    }
    return length >= 0 ? GRAFT_OK
                       : graft_error_set(error, GRAFT_ERROR_USAGE, "cache", "length: expected 0 or more, got %lld",
                                         (long long)length);
}

static int fail_unknown(int32_t slot, int64_t length, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, "cache",
                           "slot %ld: the states of modules after %lld tokens are not known", (long)slot,
                           (long long)length);
}

int graft_cache_truncate(struct graft_cache *cache, int32_t slot, int64_t length, struct graft_error *error) {
    int64_t reached = length;
    int status = check_slot(cache, slot, length, error);
    if (status == GRAFT_OK) {
        status = graft_cache_rewind(cache, slot, length, &reached, error);
    }
    if (status == GRAFT_OK && reached != length) {
        (void)graft_cache_rewind(cache, slot, 0, &reached, NULL);
        return fail_unknown(slot, length, error);
    }
    return status;
}

int graft_cache_copy(const struct graft_cache *source, int32_t from, struct graft_cache *target, int32_t to,
                     int64_t length, struct graft_error *error) {
    int done = 0;
    int status = check_slot(source, from, length, error);
    status = status == GRAFT_OK ? check_slot(target, to, length, error) : status;
    if (status != GRAFT_OK) {
        return status;
    }
    if (source == target && from == to) {
        return graft_cache_truncate(target, to, length, error);
    }
    status = graft_cache_share(source, from, target, to, length, &done, error);
    return status != GRAFT_OK || done ? status : fail_unknown(from, length, error);
}
