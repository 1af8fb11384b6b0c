/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys and values of earlier tokens, as f32 or rounded to bf16. A slot is one sequence; in each layer it holds two
 * arrays [kv_heads, capacity, dim], each head's rows one after another, or one, where values are the beginnings of
 * keys. Layers and their sizes are made known by the first append. Between forwards all layers of a slot hold the same
 * number of tokens. One thread at a time for each slot; two threads may not append at the same time.
 */
#ifndef GRAFT_KERNELS_KV_CACHE_H
#define GRAFT_KERNELS_KV_CACHE_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/error.h"

/* Keys or values. That of token j for head h is at data + h * head_stride + j * row_stride, [dim]; a view of a cache in
 * bf16 has bf16 numbers there. */
struct graft_kv_rows {
    const float *data;
    int64_t dim;
    int64_t head_stride;
    int64_t row_stride;
};

struct graft_kv_cache;

/* What attention reads. */
struct graft_kv_view {
    struct graft_kv_rows keys;
    struct graft_kv_rows values;
    int64_t length;    /* tokens held */
    graft_dtype dtype; /* of keys and values */
};

/* Tokens to append. */
struct graft_kv_new {
    struct graft_kv_rows keys;
    struct graft_kv_rows values; /* without data: the first `dim` numbers of each key, of which no copy is kept */
    int64_t tokens;
    int64_t kv_heads;
    int64_t position; /* of the first: how many tokens the slot is to hold already */
};

/* A cache for sequences 0 .. slots - 1, all empty, that keeps numbers as GRAFT_DTYPE_F32 or GRAFT_DTYPE_BF16; NULL if
 * memory ran out. */
struct graft_kv_cache *graft_kv_cache_create(int32_t slots, graft_dtype dtype);
void graft_kv_cache_destroy(struct graft_kv_cache *cache);

/* Appends and fills `view`, which is valid until the next append to this layer and slot, or until a reset. */
int graft_kv_cache_append(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                          struct graft_kv_view *view, struct graft_error *error);

/* In a layer that is about another text: takes the place of what is there, unless `added` has no tokens; fills `view`
 * likewise. It stays as it is, however the slot is cut, until that is empty. `position` is not read. */
int graft_kv_cache_fix(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                       struct graft_kv_view *view, struct graft_error *error);

/* How many tokens a slot holds; an error if its layers differ, as after a forward that failed. */
int graft_kv_cache_length(const struct graft_kv_cache *cache, int32_t slot, int64_t *length, struct graft_error *error);

graft_dtype graft_kv_cache_dtype(const struct graft_kv_cache *cache);

/* Bytes that a slot takes for each of its tokens, in all layers; 0 before it holds any. */
int64_t graft_kv_cache_token_bytes(const struct graft_kv_cache *cache, int32_t slot);

/* Forgets all but the first `length` tokens of a slot, in every layer; 0 empties it. Memory is kept for reuse. */
int graft_kv_cache_truncate(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* Makes slot `to` what the first `length` tokens of slot `from` are, or all of them. On failure it is in part. */
int graft_kv_cache_copy(struct graft_kv_cache *cache, int32_t from, int32_t to, int64_t length,
                        struct graft_error *error);

/* What a layer of a slot holds of each token and head, in bytes. */
struct graft_kv_layer {
    int64_t kv_heads; /* 0: it has held nothing yet */
    int64_t key_bytes;
    int64_t value_bytes; /* 0: values are the beginnings of keys */
};

/* How many layers are known, and one of them. */
int32_t graft_kv_cache_layers(const struct graft_kv_cache *cache);
struct graft_kv_layer graft_kv_cache_layer(const struct graft_kv_cache *cache, int32_t layer, int32_t slot);

/* Makes a slot hold `length` tokens in each layer, for graft_kv_cache_head to be filled in. */
int graft_kv_cache_make(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* The keys (`values` 0) or values of a head, token after token. Valid until the slot grows. */
void *graft_kv_cache_head(const struct graft_kv_cache *cache, int32_t layer, int32_t slot, int64_t head, int values);

/* From now on a slot of the cache has room for `tokens` when it first takes any, so that it need not grow; 0: for as
 * many as it is given. */
void graft_kv_cache_expect(struct graft_kv_cache *cache, int32_t slot, int64_t tokens);

/* Empties a slot and frees its memory. */
void graft_kv_cache_release(struct graft_kv_cache *cache, int32_t slot);

#endif
