/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kv_cache.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_CAPACITY = 64 };

/* One layer of one slot. */
struct entry {
    float *keys;   /* [kv_heads, capacity, head_dim] */
    float *values; /* [kv_heads, capacity, head_dim] */
    int64_t kv_heads;
    int64_t head_dim;
    int64_t capacity;
    int64_t length;
};

struct graft_kv_cache {
    struct entry *entries; /* [layers, slots] */
    int32_t layers;
    int32_t slots;
};

struct graft_kv_cache *graft_kv_cache_create(int32_t slots) {
    struct graft_kv_cache *cache = slots > 0 ? (struct graft_kv_cache *)graft_alloc(1, sizeof *cache) : NULL;
    if (cache != NULL) {
        cache->slots = slots;
    }
    return cache;
}

void graft_kv_cache_destroy(struct graft_kv_cache *cache) {
    if (cache != NULL) {
        for (int64_t i = 0; i < (int64_t)cache->layers * cache->slots; i++) {
            graft_free(cache->entries[i].keys);
            graft_free(cache->entries[i].values);
        }
        graft_free(cache->entries);
        graft_free(cache);
    }
}

static int check_slot(const struct graft_kv_cache *cache, int32_t slot, struct graft_error *error) {
    if (slot < 0 || slot >= cache->slots) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: there is no slot %d, only %d slots",
                               (int)slot, (int)cache->slots);
    }
    return GRAFT_OK;
}

static int add_layers(struct graft_kv_cache *cache, int32_t layers, struct graft_error *error) {
    size_t before = (size_t)cache->layers * (size_t)cache->slots;
    size_t after = (size_t)layers * (size_t)cache->slots;
    struct entry *entries = (struct entry *)graft_realloc(cache->entries, after, sizeof *entries);
    if (entries == NULL) {
        return graft_fail_memory(error, "KV cache");
    }
    memset(entries + before, 0, (after - before) * sizeof *entries);
    cache->entries = entries;
    cache->layers = layers;
    return GRAFT_OK;
}

/* Copies the rows that an entry holds in one of its arrays to an array with room for `capacity` tokens. */
static void copy_rows(const struct entry *entry, const float *from, float *to, int64_t capacity) {
    for (int64_t h = 0; h < entry->kv_heads; h++) {
        memcpy(to + h * capacity * entry->head_dim, from + h * entry->capacity * entry->head_dim,
               (size_t)(entry->length * entry->head_dim) * sizeof(float));
    }
}

/* A copy of `old` with room for `capacity` tokens; NULL if memory ran out or the size overflows. */
static float *enlarged(const struct entry *entry, const float *old, int64_t capacity) {
    int64_t head = capacity <= INT64_MAX / 4 / entry->head_dim ? capacity * entry->head_dim : INT64_MAX / 4;
    if (head > INT64_MAX / 4 / entry->kv_heads) {
        return NULL;
    }
    float *fresh = (float *)graft_alloc_aligned(64, (size_t)(head * entry->kv_heads) * sizeof(float));
    if (fresh != NULL && old != NULL) {
        copy_rows(entry, old, fresh, capacity);
    }
    return fresh;
}

static int reserve(struct entry *entry, int64_t length, struct graft_error *error) {
    if (length <= entry->capacity) {
        return GRAFT_OK;
    }
    int64_t capacity = entry->capacity > 0 ? entry->capacity : FIRST_CAPACITY;
    while (capacity < length) {
        capacity *= 2;
    }
    float *keys = enlarged(entry, entry->keys, capacity);
    float *values = enlarged(entry, entry->values, capacity);
    if (keys == NULL || values == NULL) {
        graft_free(keys);
        graft_free(values);
        return graft_fail_memory(error, "KV cache");
    }
    graft_free(entry->keys);
    graft_free(entry->values);
    entry->keys = keys;
    entry->values = values;
    entry->capacity = capacity;
    return GRAFT_OK;
}

static int check_added(const struct entry *entry, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                       struct graft_error *error) {
    if (added->tokens < 0 || added->tokens > INT64_MAX / 8 || added->kv_heads <= 0 || added->head_dim <= 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: %lld tokens of %lld heads of %lld numbers",
                               (long long)added->tokens, (long long)added->kv_heads, (long long)added->head_dim);
    }
    if (entry->capacity > 0 && (entry->kv_heads != added->kv_heads || entry->head_dim != added->head_dim)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "KV cache: layer %d holds %lld heads of %lld numbers, but was given %lld of %lld",
                               (int)layer, (long long)entry->kv_heads, (long long)entry->head_dim,
                               (long long)added->kv_heads, (long long)added->head_dim);
    }
    if (entry->length != added->position) {
        return graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "",
            "KV cache: layer %d of slot %d holds %lld tokens, but the batch continues at position %lld", (int)layer,
            (int)slot, (long long)entry->length, (long long)added->position);
    }
    return GRAFT_OK;
}

static void copy_added(struct entry *entry, const struct graft_kv_new *added) {
    size_t bytes = (size_t)added->head_dim * sizeof(float);
    for (int64_t h = 0; h < added->kv_heads; h++) {
        int64_t to = (h * entry->capacity + entry->length) * added->head_dim;
        int64_t from = h * added->head_dim;
        for (int64_t t = 0; t < added->tokens; t++) {
            memcpy(entry->keys + to + t * added->head_dim, added->keys + t * added->key_stride + from, bytes);
            memcpy(entry->values + to + t * added->head_dim, added->values + t * added->value_stride + from, bytes);
        }
    }
}

int graft_kv_cache_append(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                          struct graft_kv_view *view, struct graft_error *error) {
    int status = check_slot(cache, slot, error);
    if (status == GRAFT_OK && (layer < 0 || layer == INT32_MAX)) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: there is no layer %d", (int)layer);
    }
    if (status == GRAFT_OK && layer >= cache->layers) {
        status = add_layers(cache, layer + 1, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct entry *entry = &cache->entries[(int64_t)layer * cache->slots + slot];
    status = check_added(entry, layer, slot, added, error);
    if (status == GRAFT_OK) {
        entry->kv_heads = added->kv_heads;
        entry->head_dim = added->head_dim;
        status = reserve(entry, entry->length + added->tokens, error);
    }
    if (status == GRAFT_OK) {
        copy_added(entry, added);
        entry->length += added->tokens;
        int64_t head_stride = entry->capacity * entry->head_dim;
        view->keys = (struct graft_kv_rows){entry->keys, head_stride, entry->head_dim};
        view->values = (struct graft_kv_rows){entry->values, head_stride, entry->head_dim};
        view->length = entry->length;
    }
    return status;
}

int graft_kv_cache_length(const struct graft_kv_cache *cache, int32_t slot, int64_t *length,
                          struct graft_error *error) {
    *length = 0;
    int status = check_slot(cache, slot, error);
    for (int32_t layer = 0; status == GRAFT_OK && layer < cache->layers; layer++) {
        int64_t held = cache->entries[(int64_t)layer * cache->slots + slot].length;
        if (layer > 0 && held != *length) {
            status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                                     "KV cache: in slot %d, layer %d holds %lld tokens and layer 0 %lld", (int)slot,
                                     (int)layer, (long long)held, (long long)*length);
        }
        *length = layer == 0 ? held : *length;
    }
    return status;
}

int graft_kv_cache_truncate(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error) {
    int status = check_slot(cache, slot, error);
    if (status == GRAFT_OK && length < 0) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: a length of %lld", (long long)length);
    }
    for (int32_t layer = 0; status == GRAFT_OK && layer < cache->layers; layer++) {
        struct entry *entry = &cache->entries[(int64_t)layer * cache->slots + slot];
        entry->length = entry->length < length ? entry->length : length;
    }
    return status;
}

int graft_kv_cache_copy(struct graft_kv_cache *cache, int32_t from, int32_t to, struct graft_error *error) {
    int status = check_slot(cache, from, error);
    status = status == GRAFT_OK ? check_slot(cache, to, error) : status;
    for (int32_t layer = 0; status == GRAFT_OK && layer < cache->layers; layer++) {
        const struct entry *source = &cache->entries[(int64_t)layer * cache->slots + from];
        struct entry *target = &cache->entries[(int64_t)layer * cache->slots + to];
        target->kv_heads = source->kv_heads;
        target->head_dim = source->head_dim;
        target->length = 0;
        if (source->length > 0 && (status = reserve(target, source->length, error)) == GRAFT_OK) {
            copy_rows(source, source->keys, target->keys, target->capacity);
            copy_rows(source, source->values, target->values, target->capacity);
            target->length = source->length;
        }
    }
    return status;
}
