/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a format of packed.h says of itself, how it unpacks words of codes and zero points, and what helps it to. To be
 * included by a file that is compiled once for each instruction set, as are packed_few.h and packed_widen.h, which make
 * products and rows of W of that.
 */
#ifndef GRAFT_PACKED_FORMAT_H
#define GRAFT_PACKED_FORMAT_H

#include "packed.h"
#include "packed_vectors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of 4 bits in a word. */
#define GRAFT_PACKED_CODES 8

/* [any] Word `step` of outputs [first, first + n), n at most GRAFT_PACKED_TILE and constant where that is a whole tile:
 * in each lane the codes of inputs step * 32 / bits and following of an output, the first in the lowest bits. Lanes
 * behind n are anything. */
typedef void (*graft_packed_unpack)(const struct graft_packed *self, int64_t step, int64_t first, int64_t n,
                                    graft_packed_words words[GRAFT_PACKED_VECTORS]);

/* [any] The zero points of a group, as they are stored: one in each lane. */
typedef void (*graft_packed_unpack_zeros)(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                          graft_packed_words codes[GRAFT_PACKED_VECTORS]);

/* [any] Codes k and k + 4 of word `step` of outputs as above, as pairs, k in the lower half of a lane, and `raised` by
 * bits that codes have not: 0 for integers, 0x43004300 for bf16 that are 128 too large (GRAFT_PACKED_ABOVE). */
typedef void (*graft_packed_unpack_pairs)(const struct graft_packed *self, int64_t step, int k, const uint32_t raised,
                                          int64_t first, int64_t n, graft_packed_words numbers[GRAFT_PACKED_VECTORS]);

struct graft_packed_format;

/* [any] y [tokens, n] = W x of one token (row t of the input) or, of integers, also GRAFT_PACKED_TILE_TOKENS; rows of y
 * lie out_features apart. n is whole strips, groups have whole words; to the bit as packed_few.h has it. `bits`,
 * `rounded` and `tokens` are constants. */
typedef void (*graft_packed_multiply_one)(const struct graft_packed *self, const struct graft_packed_format format,
                                          const int bits, const int rounded, const struct graft_packed_input *input,
                                          int64_t t, const int tokens, int64_t first, int64_t n, float *y);

/* What a format defines. */
struct graft_packed_format {
    graft_packed_unpack unpack;             /* of weights */
    graft_packed_unpack_zeros unpack_zeros; /* of zero points */
    int64_t
        steps; /* words of each output that are added while its sum is in registers: 1, or 2 if unpacking is short */
    graft_packed_unpack_pairs pairs; /* where that takes less than by way of words; NULL: by way of words */
    graft_packed_multiply_one one;   /* likewise */
};

/* [any] For formats: `n` words, of which the last vectors may lack some. */
GRAFT_PACKED_INLINE void graft_packed_load(const int32_t *from, int64_t n,
                                           graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    int32_t rest[GRAFT_PACKED_TILE];
    if (n < GRAFT_PACKED_TILE) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, from, (size_t)n * sizeof *from);
        from = rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        words[v] = graft_packed_words_from(from + (ptrdiff_t)v * GRAFT_PACKED_LANES);
    }
}

/* [any] For formats: codes of `n` outputs that lie along outputs, `words` being those from the first output on. `bits`
 * is a constant; `shifts` [16] says how far up in its word the code of each output is. */
GRAFT_PACKED_INLINE void graft_packed_across(const int32_t *words, const int bits, const uint32_t *shifts, int64_t n,
                                             graft_packed_words codes[GRAFT_PACKED_VECTORS]) {
    const int slots = 32 / bits, words_of_vector = GRAFT_PACKED_LANES > slots ? GRAFT_PACKED_LANES / slots : 1;
    int32_t rest[GRAFT_PACKED_TILE];
    if (n < GRAFT_PACKED_TILE) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, words, (size_t)(n / slots) * sizeof *words);
        words = rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        const int output = v * GRAFT_PACKED_LANES;
        const graft_packed_words by = graft_packed_words_from(shifts + output % slots);
        codes[v] = (graft_packed_repeat(words + output / slots, words_of_vector) >> by) & ((1U << bits) - 1);
    }
}

/* A group's scales and zero points, both as f32. */
struct graft_packed_group {
    graft_packed_floats scales[GRAFT_PACKED_VECTORS]; /* of the outputs */
    graft_packed_floats zeros[GRAFT_PACKED_VECTORS];  /* with what is to be added to them */
};

GRAFT_ASSERT_SIZE(struct graft_packed_format, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_group, 32 * GRAFT_PACKED_LANES);

/* [any] Fills in a group, for outputs [first, first + n). */
GRAFT_PACKED_INLINE void graft_packed_group_at(const struct graft_packed *self, const struct graft_packed_format format,
                                               int64_t group, int64_t first, int64_t n, struct graft_packed_group *at) {
    graft_packed_words codes[GRAFT_PACKED_VECTORS];
    graft_packed_scales(self->scales, group * self->out_features + first, n, at->scales);
    format.unpack_zeros(self, group, first, n, codes);
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        at->zeros[v] = graft_packed_convert(codes[v] + (uint32_t)self->zero_offset);
    }
}

#ifdef __cplusplus
}
#endif

#endif
