/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kv_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "kernels/loops.h"

enum { FIRST_CAPACITY = 64 };

struct rows {
    char *data;  /* [kv_heads, capacity, dim] */
    int64_t dim; /* 0: there are none */
};

/* One layer of one slot. */
struct entry {
    struct rows keys;
    struct rows values;
    int64_t kv_heads;
    int64_t capacity;
    int64_t length;
    int32_t is_fixed; /* 1: keys and values of a source text, which stay until the slot is emptied */
};

struct graft_kv_cache {
    struct entry *entries; /* [layers, slots] */
    int64_t *expected;     /* [slots]: tokens to make room for at first */
    int32_t layers;
    int32_t slots;
    graft_dtype dtype;
};

struct graft_kv_cache *graft_kv_cache_create(int32_t slots, graft_dtype dtype) {
    struct graft_kv_cache *cache = slots > 0 ? (struct graft_kv_cache *)graft_alloc(1, sizeof *cache) : NULL;
    if (cache != NULL) {
        cache->slots = slots;
        cache->dtype = dtype;
        cache->expected = (int64_t *)graft_alloc((size_t)slots, sizeof *cache->expected);
    }
    if (cache != NULL && cache->expected == NULL) {
        graft_kv_cache_destroy(cache);
        return NULL;
    }
    return cache;
}

void graft_kv_cache_destroy(struct graft_kv_cache *cache) {
    if (cache != NULL) {
        for (int64_t i = 0; i < (int64_t)cache->layers * cache->slots; i++) {
            graft_free(cache->entries[i].keys.data);
            graft_free(cache->entries[i].values.data);
        }
        graft_free(cache->entries);
        graft_free(cache->expected);
        graft_free(cache);
    }
}

static struct entry *entry_of(const struct graft_kv_cache *cache, int32_t layer, int32_t slot) {
    return &cache->entries[(int64_t)layer * cache->slots + slot];
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

/* Copies one of an entry's arrays to an array with room for `capacity` tokens. */
static void copy_rows(const struct entry *entry, const struct rows *from, char *to, int64_t capacity, int64_t size) {
    int64_t bytes = from->dim * size;
    for (int64_t h = 0; h < entry->kv_heads && bytes > 0 && entry->length > 0; h++) {
        memcpy(to + h * capacity * bytes, from->data + h * entry->capacity * bytes, (size_t)(entry->length * bytes));
    }
}

/* A copy of `old` with room for `capacity` tokens; NULL if memory ran out or the size overflows. */
static char *enlarged(const struct entry *entry, const struct rows *old, int64_t capacity, int64_t size) {
    int64_t head = old->dim == 0 || capacity <= INT64_MAX / 4 / old->dim ? capacity * old->dim : INT64_MAX / 4;
    if (head > INT64_MAX / 4 / entry->kv_heads) {
        return NULL;
    }
    char *fresh = (char *)graft_alloc_aligned(64, (size_t)(head * entry->kv_heads * size));
    if (fresh != NULL && old->data != NULL) {
        copy_rows(entry, old, fresh, capacity, size);
    }
    return fresh;
}

/* The new capacity: the expected length if it suffices, else the old capacity doubled until it does. */
static int64_t enough(int64_t capacity, int64_t length, int64_t expected) {
    if (expected >= length) {
        return expected;
    }
    capacity = capacity > 0 ? capacity : FIRST_CAPACITY;
    while (capacity < length) {
        capacity *= 2;
    }
    return capacity;
}

static int reserve(struct entry *entry, int64_t length, int64_t expected, int64_t size, struct graft_error *error) {
    if (length <= entry->capacity) {
        return GRAFT_OK;
    }
    int64_t capacity = enough(entry->capacity, length, expected);
    char *keys = enlarged(entry, &entry->keys, capacity, size);
    char *values = enlarged(entry, &entry->values, capacity, size);
    if (keys == NULL || values == NULL) {
        graft_free(keys);
        graft_free(values);
        return graft_fail_memory(error, "KV cache");
    }
    graft_free(entry->keys.data);
    graft_free(entry->values.data);
    entry->keys.data = keys;
    entry->values.data = values;
    entry->capacity = capacity;
    return GRAFT_OK;
}

/* The elements of a value that the cache stores besides the key. */
static int64_t kept_dim(const struct graft_kv_rows *values) {
    return values->data != NULL ? values->dim : 0;
}

static int check_added(const struct entry *entry, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                       struct graft_error *error) {
    int64_t key_dim = added->keys.dim;
    int64_t value_dim = kept_dim(&added->values);
    if (added->tokens < 0 || added->tokens > INT64_MAX / 8 || added->kv_heads <= 0 || key_dim <= 0 || value_dim < 0) {
        return graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "", "KV cache: cannot hold %lld tokens of %lld heads of %lld and %lld numbers",
            (long long)added->tokens, (long long)added->kv_heads, (long long)key_dim, (long long)value_dim);
    }
    if (entry->capacity > 0 &&
        (entry->kv_heads != added->kv_heads || entry->keys.dim != key_dim || entry->values.dim != value_dim)) {
        return graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "",
            "KV cache: layer %d holds %lld heads of %lld and %lld numbers, but was given %lld of %lld and %lld",
            (int)layer, (long long)entry->kv_heads, (long long)entry->keys.dim, (long long)entry->values.dim,
            (long long)added->kv_heads, (long long)key_dim, (long long)value_dim);
    }
    if (entry->length != added->position) {
        return graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "",
            "KV cache: layer %d of slot %d holds %lld tokens, but the batch continues at position %lld", (int)layer,
            (int)slot, (long long)entry->length, (long long)added->position);
    }
    return GRAFT_OK;
}

static void store(const float *numbers, int64_t count, graft_dtype dtype, char *to) {
    if (dtype == GRAFT_DTYPE_BF16) {
        graft_loops_get()->narrow(numbers, count, (uint16_t *)(void *)to);
    } else {
        memcpy(to, numbers, (size_t)count * sizeof *numbers);
    }
}

static void copy_added(const struct entry *entry, const struct graft_kv_rows *added, int64_t tokens, graft_dtype dtype,
                       const struct rows *rows) {
    int64_t bytes = rows->dim * graft_dtype_size(dtype);
    for (int64_t h = 0; h < entry->kv_heads && bytes > 0 && tokens > 0; h++) {
        char *to = rows->data + (h * entry->capacity + entry->length) * bytes;
        const float *from = added->data + h * added->head_stride;
        for (int64_t t = 0; t < tokens; t++) {
            store(from + t * added->row_stride, rows->dim, dtype, to + t * bytes);
        }
    }
}

/* A view of one of an entry's arrays, of which the first `dim` elements of each row are read. */
static struct graft_kv_rows view_of(const struct entry *entry, const struct rows *rows, int64_t dim) {
    const float *data = (const float *)(const void *)rows->data;
    return (struct graft_kv_rows){data, dim, entry->capacity * rows->dim, rows->dim};
}

void graft_kv_cache_expect(struct graft_kv_cache *cache, int32_t slot, int64_t tokens) {
    if (check_slot(cache, slot, NULL) == GRAFT_OK) {
        cache->expected[slot] = tokens;
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
    struct entry *entry = entry_of(cache, layer, slot);
    status = check_added(entry, layer, slot, added, error);
    if (status == GRAFT_OK) {
        entry->kv_heads = added->kv_heads;
        entry->keys.dim = added->keys.dim;
        entry->values.dim = kept_dim(&added->values);
        status =
            reserve(entry, entry->length + added->tokens, cache->expected[slot], graft_dtype_size(cache->dtype), error);
    }
    if (status == GRAFT_OK) {
        copy_added(entry, &added->keys, added->tokens, cache->dtype, &entry->keys);
        copy_added(entry, &added->values, added->tokens, cache->dtype, &entry->values);
        entry->length += added->tokens;
        view->keys = view_of(entry, &entry->keys, added->keys.dim);
        view->values = view_of(entry, entry->values.dim > 0 ? &entry->values : &entry->keys, added->values.dim);
        view->length = entry->length;
        view->dtype = cache->dtype;
    }
    return status;
}

int graft_kv_cache_fix(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                       struct graft_kv_view *view, struct graft_error *error) {
    struct graft_kv_new whole = *added;
    int status = check_slot(cache, slot, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t expected = cache->expected[slot];
    whole.position = 0;
    if (layer >= 0 && layer < cache->layers) {
        struct entry *entry = entry_of(cache, layer, slot);
        entry->length = added->tokens > 0 ? 0 : entry->length;
        whole.position = entry->length;
    }
    cache->expected[slot] = added->tokens;
    status = graft_kv_cache_append(cache, layer, slot, &whole, view, error);
    cache->expected[slot] = expected;
    if (status == GRAFT_OK) {
        entry_of(cache, layer, slot)->is_fixed = 1;
    }
    return status;
}

int graft_kv_cache_length(const struct graft_kv_cache *cache, int32_t slot, int64_t *length,
                          struct graft_error *error) {
    *length = 0;
    int status = check_slot(cache, slot, error);
    for (int32_t layer = 0; status == GRAFT_OK && layer < cache->layers; layer++) {
        const struct entry *entry = entry_of(cache, layer, slot);
        const int64_t held = entry->length;
        if (entry->is_fixed) {
            continue;
        }
        if (layer > 0 && held != *length) {
            status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                                     "KV cache: in slot %d, layer %d holds %lld tokens and layer 0 %lld", (int)slot,
                                     (int)layer, (long long)held, (long long)*length);
        }
        *length = layer == 0 ? held : *length;
    }
    return status;
}

graft_dtype graft_kv_cache_dtype(const struct graft_kv_cache *cache) {
    return cache->dtype;
}

int64_t graft_kv_cache_token_bytes(const struct graft_kv_cache *cache, int32_t slot) {
    int64_t numbers = 0;
    for (int32_t layer = 0; layer < cache->layers && check_slot(cache, slot, NULL) == GRAFT_OK; layer++) {
        const struct entry *entry = entry_of(cache, layer, slot);
        numbers += entry->kv_heads * (entry->keys.dim + entry->values.dim);
    }
    return numbers * graft_dtype_size(cache->dtype);
}

int graft_kv_cache_truncate(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error) {
    int status = check_slot(cache, slot, error);
    if (status == GRAFT_OK && length < 0) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: a length of %lld", (long long)length);
    }
    for (int32_t layer = 0; status == GRAFT_OK && layer < cache->layers; layer++) {
        struct entry *entry = entry_of(cache, layer, slot);
        entry->length = entry->length < length || (entry->is_fixed && length > 0) ? entry->length : length;
    }
    return status;
}

int graft_kv_cache_copy(const struct graft_kv_cache *source, int32_t from, struct graft_kv_cache *target, int32_t to,
                        int64_t length, struct graft_error *error) {
    int64_t size = graft_dtype_size(target->dtype);
    int status = check_slot(source, from, error);
    status = status == GRAFT_OK ? check_slot(target, to, error) : status;
    if (status == GRAFT_OK && source->dtype != target->dtype) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "KV cache: cannot copy numbers of another type");
    }
    if (status == GRAFT_OK && source->layers > target->layers) {
        status = add_layers(target, source->layers, error);
    }
    for (int32_t layer = 0; status == GRAFT_OK && layer < target->layers; layer++) {
        struct entry had = layer < source->layers ? *entry_of(source, layer, from) : (struct entry){0};
        struct entry *made = entry_of(target, layer, to);
        had.length = had.length < length || had.is_fixed ? had.length : length;
        made->is_fixed = had.is_fixed;
        made->length = 0;
        if (had.length == 0) {
            continue;
        }
        made->kv_heads = had.kv_heads;
        made->keys.dim = had.keys.dim;
        made->values.dim = had.values.dim;
        if ((status = reserve(made, had.length, target->expected[to], size, error)) == GRAFT_OK) {
            copy_rows(&had, &had.keys, made->keys.data, made->capacity, size);
            copy_rows(&had, &had.values, made->values.data, made->capacity, size);
            made->length = had.length;
        }
    }
    return status;
}

int32_t graft_kv_cache_layers(const struct graft_kv_cache *cache) {
    return cache->layers;
}

struct graft_kv_layer graft_kv_cache_layer(const struct graft_kv_cache *cache, int32_t layer, int32_t slot) {
    const struct entry *entry = entry_of(cache, layer, slot);
    const int64_t size = graft_dtype_size(cache->dtype);
    return (struct graft_kv_layer){entry->kv_heads, entry->keys.dim * size, entry->values.dim * size};
}

int graft_kv_cache_make(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error) {
    int status = check_slot(cache, slot, error);
    for (int32_t layer = 0; layer < cache->layers && status == GRAFT_OK; layer++) {
        struct entry *entry = entry_of(cache, layer, slot);
        if (entry->kv_heads > 0) {
            status = reserve(entry, length, cache->expected[slot], graft_dtype_size(cache->dtype), error);
            entry->length = status == GRAFT_OK ? length : entry->length;
        }
    }
    return status;
}

void *graft_kv_cache_head(const struct graft_kv_cache *cache, int32_t layer, int32_t slot, int64_t head, int values) {
    const struct entry *entry = entry_of(cache, layer, slot);
    const struct rows *rows = values ? &entry->values : &entry->keys;
    return rows->data + head * entry->capacity * rows->dim * graft_dtype_size(cache->dtype);
}

void graft_kv_cache_release(struct graft_kv_cache *cache, int32_t slot) {
    for (int32_t layer = 0; layer < cache->layers; layer++) {
        struct entry *entry = entry_of(cache, layer, slot);
        graft_free(entry->keys.data);
        graft_free(entry->values.data);
        *entry = (struct entry){0};
    }
}
