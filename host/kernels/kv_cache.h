/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of earlier tokens, as f32 or rounded to bf16. A slot is one sequence. In each layer it holds two
 * arrays [kv_heads, capacity, dim], with the rows of a head one after another, or one array if values are the first
 * elements of keys. The first append to a layer defines its sizes. Between forwards all layers of a slot hold the same
 * number of tokens. A slot is used by one thread at a time, and only one thread may append to the cache at a time. */
#ifndef GRAFT_KERNELS_KV_CACHE_H
#define GRAFT_KERNELS_KV_CACHE_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/error.h"

/* Keys or values. The row of token j and head h is at data + h * head_stride + j * row_stride, [dim]; in a view of a
 * bf16 cache its elements are bf16. */
struct graft_kv_rows {
    const float *data;
    int64_t dim;
    int64_t head_stride;
    int64_t row_stride;
};

struct graft_kv_cache;

/* Keys and values for attention to read. */
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
    int64_t position; /* position of the first new token: the number of tokens already in the slot */
};

/* Creates a cache for sequences 0 .. slots - 1, all empty, that keeps numbers as GRAFT_DTYPE_F32 or GRAFT_DTYPE_BF16;
 * NULL if memory ran out. */
struct graft_kv_cache *graft_kv_cache_create(int32_t slots, graft_dtype dtype);
void graft_kv_cache_destroy(struct graft_kv_cache *cache);

/* Appends and fills `view`, which is valid until the next append to this layer and slot, or until a reset. */
int graft_kv_cache_append(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                          struct graft_kv_view *view, struct graft_error *error);

/* For a layer of cross-attention: replaces the keys and values by `added`, unless that has no tokens, and fills `view`
 * like graft_kv_cache_append. They stay when the slot is truncated, until it is emptied. `position` is not read. */
int graft_kv_cache_fix(struct graft_kv_cache *cache, int32_t layer, int32_t slot, const struct graft_kv_new *added,
                       struct graft_kv_view *view, struct graft_error *error);

/* The number of tokens in a slot; an error if its layers differ, as after a failed forward. */
int graft_kv_cache_length(const struct graft_kv_cache *cache, int32_t slot, int64_t *length, struct graft_error *error);

graft_dtype graft_kv_cache_dtype(const struct graft_kv_cache *cache);

/* The bytes of a slot for each token, in all layers; 0 before the slot holds any token. */
int64_t graft_kv_cache_token_bytes(const struct graft_kv_cache *cache, int32_t slot);

/* Drops all but the first `length` tokens of a slot, in every layer; 0 empties it. Memory is kept for reuse. */
int graft_kv_cache_truncate(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* Copies the first `length` tokens of a slot of `source`, or all if there are fewer, to another slot of `target`: of
 * the same cache, or of another with the same type of numbers. On failure the slot `to` is incomplete. */
int graft_kv_cache_copy(const struct graft_kv_cache *source, int32_t from, struct graft_kv_cache *target, int32_t to,
                        int64_t length, struct graft_error *error);

/* The sizes of a layer of a slot, for each token and head. */
struct graft_kv_layer {
    int64_t kv_heads; /* 0: nothing has been appended yet */
    int64_t key_bytes;
    int64_t value_bytes; /* 0: values are the beginnings of keys */
};

/* The number of layers appended to so far, and the sizes of one of them. */
int32_t graft_kv_cache_layers(const struct graft_kv_cache *cache);
struct graft_kv_layer graft_kv_cache_layer(const struct graft_kv_cache *cache, int32_t layer, int32_t slot);

/* Gives each layer of a slot room for `length` tokens and that length, for the caller to fill in through
 * graft_kv_cache_head. */
int graft_kv_cache_make(struct graft_kv_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* The keys (`values` 0) or values of a head, token after token. Valid until the slot grows. */
void *graft_kv_cache_head(const struct graft_kv_cache *cache, int32_t layer, int32_t slot, int64_t head, int values);

/* Sets the number of tokens for which a slot allocates memory at its first append, so that it need not grow; 0: as many
 * as are appended. */
void graft_kv_cache_expect(struct graft_kv_cache *cache, int32_t slot, int64_t tokens);

/* Empties a slot and frees its memory. */
void graft_kv_cache_release(struct graft_kv_cache *cache, int32_t slot);

#endif
