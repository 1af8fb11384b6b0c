/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many tokens times the words of a format (packed_format.h) as products of integers: packed.h's `many` and `bytes`, by
 * packed_many_loops.h. Lanes are outputs both here and there, so words become its panels as they come.
 */
#ifndef GRAFT_PACKED_WORDS_MANY_H
#define GRAFT_PACKED_WORDS_MANY_H

#include "packed_format.h"
#include "packed_many_loops.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__AVX2__)

/* [any] The sizes of a weight. */
GRAFT_PACKED_INLINE struct graft_many_sizes graft_packed_many_sizes(const struct graft_packed *self,
                                                                    const struct graft_many_shape shape) {
    return graft_many_sizes_of(shape, self->in_features, self->groups, self->group_size,
                               !graft_packed_is_scattered(self));
}

/* [any] A panel's tile of outputs [first, first + n), from column `column` on; `across` is its first vector. */
GRAFT_PACKED_INLINE void graft_packed_many_tile(const struct graft_packed *self,
                                                const struct graft_packed_format format,
                                                const struct graft_many_shape shape, int64_t first, int64_t n,
                                                int64_t column, int64_t across, struct graft_many_panel *panel) {
    const int64_t most = panel->block * shape.bits / 32;
    graft_packed_ints *out = &panel->words[0][across];
    for (int64_t b = 0; b < panel->blocks; b++, column += panel->block) {
        struct graft_packed_group at;
        graft_packed_group_at(self, format, graft_packed_group_of(self, column), first, n, &at);
        memcpy(&panel->scales[b][across], at.scales, sizeof at.scales);
        memcpy(&panel->zeros[b][across], at.zeros, sizeof at.zeros);
        for (int64_t w = 0; w < most; w++) {
            graft_packed_words words[GRAFT_PACKED_VECTORS];
            graft_packed_ints *next = out;
            format.unpack(self, column * shape.bits / 32 + w, first, n, words);
            for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
                next = graft_many_spread((graft_packed_ints)words[v], at.zeros[v], shape, out + v);
            }
            out = next - (GRAFT_PACKED_VECTORS - 1);
        }
    }
}

/* [any] As graft_many_fill has it. */
GRAFT_PACKED_INLINE void graft_packed_many_fill(const struct graft_packed *self,
                                                const struct graft_packed_format format,
                                                const struct graft_many_shape shape, int64_t first, int64_t n,
                                                int64_t column, struct graft_many_panel *panel) {
    panel->stored = 1;
    panel->zero = 0;
    for (int64_t at = 0; at < GRAFT_PACKED_PANEL; at += GRAFT_PACKED_TILE) {
        const int64_t left = n - at;
        if (left >= GRAFT_PACKED_TILE) {
            graft_packed_many_tile(self, format, shape, first + at, GRAFT_PACKED_TILE, column, at / GRAFT_PACKED_LANES,
                                   panel);
        } else {
            graft_packed_many_tile(self, format, shape, left > 0 ? first + at : first, left > 0 ? left : 0, column,
                                   at / GRAFT_PACKED_LANES, panel);
        }
    }
}

/* [any] graft_packed_prepared.size; its `prepare` and `multiply` for codes of so many bits, a constant. */
GRAFT_PACKED_INLINE int64_t graft_packed_many_size(const struct graft_packed *self, const int is_bytes) {
    const struct graft_many_shape shape = {self->bits, 0, is_bytes, 0};
    return graft_many_size(shape, graft_packed_many_sizes(self, shape));
}

/* [any] See above. */
GRAFT_PACKED_INLINE void graft_packed_many_prepare_bits(const struct graft_packed *self, const int is_bytes,
                                                        const int bits, const float *x, void *inputs) {
    const struct graft_many_shape shape = {bits, 0, is_bytes, 0};
    graft_many_prepare(shape, graft_packed_many_sizes(self, shape), x, inputs);
}

/* [any] See above. */
GRAFT_PACKED_INLINE void graft_packed_many_multiply_bits(const struct graft_packed *self, const int is_bytes,
                                                         const int bits, graft_many_fill fill, int64_t first, int64_t n,
                                                         const void *inputs, int64_t tokens, float *y) {
    const struct graft_many_shape shape = {bits, 0, is_bytes, 0};
    graft_many_multiply(self, shape, graft_packed_many_sizes(self, shape), fill, first, n, inputs, tokens, y,
                        self->out_features);
}

#endif

/* Defines the graft_packed_prepared `name` of a format. */
#define GRAFT_PACKED_MANY(name, format, is_bytes)                                                                   \
    static void name##_fill(const void *weight, const struct graft_many_shape shape, int64_t first, int64_t n,      \
                            int64_t column, struct graft_many_panel *panel) {                                       \
        graft_packed_many_fill((const struct graft_packed *)weight, format, shape, first, n, column, panel);        \
    }                                                                                                               \
    static int64_t name##_size(const void *weight) {                                                                \
        return graft_packed_many_size((const struct graft_packed *)weight, is_bytes);                               \
    }                                                                                                               \
    static void name##_prepare(const void *weight, const float *x, void *inputs) {                                  \
        const struct graft_packed *self = (const struct graft_packed *)weight;                                      \
        GRAFT_PACKED_BY_BITS(self, graft_packed_many_prepare_bits(self, is_bytes, bits, x, inputs));                \
    }                                                                                                               \
    static void name##_multiply(const void *weight, int64_t first, int64_t n, const void *inputs, int64_t tokens,   \
                                float *y) {                                                                         \
        const struct graft_packed *self = (const struct graft_packed *)weight;                                      \
        GRAFT_PACKED_BY_BITS(                                                                                       \
            self, graft_packed_many_multiply_bits(self, is_bytes, bits, name##_fill, first, n, inputs, tokens, y)); \
    }                                                                                                               \
    static const struct graft_packed_prepared name = {name##_size, name##_prepare, name##_multiply};

#ifdef __cplusplus
}
#endif

#endif
