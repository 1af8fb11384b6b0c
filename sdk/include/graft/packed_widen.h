/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many tokens: the words of a format (packed_format.h) become rows of W, in f32 or bf16, which the host's kernels
 * multiply.
 */
#ifndef GRAFT_PACKED_WIDEN_H
#define GRAFT_PACKED_WIDEN_H

#include "packed_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of bf16 in a cache line. */
#define GRAFT_PACKED_LINE 32

/* [any] The weights of one word's inputs: [slots][GRAFT_PACKED_VECTORS]. `at` is the group of the last input, `group`
 * its number. */
GRAFT_PACKED_INLINE void graft_packed_widen_word(const struct graft_packed *self,
                                                 const struct graft_packed_format format, const int bits, int64_t step,
                                                 int64_t first, int64_t n, int64_t *group,
                                                 struct graft_packed_group *at,
                                                 graft_packed_floats weights[][GRAFT_PACKED_VECTORS]) {
    const int slots = 32 / bits;
    graft_packed_words words[GRAFT_PACKED_VECTORS];
    format.unpack(self, step, first, n, words);
    for (int k = 0; k < slots; k++) {
        if (k == 0 || graft_packed_is_scattered(self)) {
            int64_t next = graft_packed_group_of(self, step * slots + k);
            if (next != *group) {
                graft_packed_group_at(self, format, next, first, n, at);
                *group = next;
            }
        }
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            graft_packed_words codes = (words[v] >> bits * k) & ((1U << bits) - 1);
            weights[k][v] = at->scales[v] * (graft_packed_convert(codes) - at->zeros[v]);
        }
    }
}

/* [any] Copies the weights of one word's inputs to their rows, `stride` numbers of 32 bits apart; for `rounded` two of
 * them are one such number. */
GRAFT_PACKED_INLINE void graft_packed_lines(graft_packed_floats weights[][GRAFT_PACKED_VECTORS], const int slots,
                                            const int rounded, int64_t stride, uint32_t *rows) {
    const int count = rounded ? slots / 2 : slots;
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        graft_packed_words columns[GRAFT_PACKED_CODES]; /* [count], a lane for each row */
        uint32_t numbers[GRAFT_PACKED_CODES * GRAFT_PACKED_LANES];
        for (int k = 0; k < count; k++) {
            columns[k] = rounded ? graft_packed_round(weights[2 * k][v]) >> 16 |
                                       (graft_packed_round(weights[2 * k + 1][v]) & 0xffff0000)
                                 : (graft_packed_words)weights[k][v];
        }
        for (int left = count; left > 1; left /= 2) {
            graft_packed_interleave(columns, count);
        }
        memcpy(numbers, columns, (size_t)count * sizeof columns[0]);
        for (int l = 0; l < GRAFT_PACKED_LANES; l++) {
            memcpy(rows + (v * GRAFT_PACKED_LANES + l) * stride, numbers + (ptrdiff_t)l * count,
                   (size_t)count * sizeof *rows);
        }
    }
}

/* [any] Rows of W: exact in f32, as a difference of codes times a scale of 16 bits has at most 20 digits. The rows are
 * far apart, often a multiple of 4096 bytes, so whole cache lines are written. */
GRAFT_PACKED_INLINE void graft_packed_widen_tile(const struct graft_packed *self,
                                                 const struct graft_packed_format format, const int bits,
                                                 const int rounded, int64_t first, int64_t n, char *out) {
    enum { STEPS = 4 };
    const int slots = 32 / bits, count = rounded ? slots / 2 : slots;
    const int64_t steps = self->in_features / slots, row_bytes = steps * count * (int64_t)sizeof(uint32_t);
    uint32_t rows[GRAFT_PACKED_TILE * GRAFT_PACKED_CODES * STEPS];
    struct graft_packed_group at;
    int64_t group = graft_packed_group_of(self, 0);
    graft_packed_group_at(self, format, group, first, n, &at);
    for (int64_t step = 0; step < steps; step += STEPS) {
        const int64_t some = graft_packed_left(steps, step, STEPS);
        for (int64_t s = 0; s < some; s++) {
            graft_packed_floats weights[GRAFT_PACKED_CODES][GRAFT_PACKED_VECTORS];
            graft_packed_widen_word(self, format, bits, step + s, first, n, &group, &at, weights);
            graft_packed_lines(weights, slots, rounded, (int64_t)STEPS * count, rows + s * count);
        }
        for (int64_t row = 0; row < n; row++) {
            const size_t bytes = (size_t)count * sizeof *rows;
            void *to = out + row * row_bytes + step * (int64_t)bytes;
            memcpy(to, rows + row * STEPS * count, some == STEPS ? STEPS * bytes : (size_t)some * bytes);
        }
    }
}

#if defined(__AVX512BF16__)

/* [any] Sixteen vectors of sixteen words become the lines of their lanes. */
GRAFT_PACKED_INLINE void graft_packed_transpose(__m512i lines[16]) {
    __m512i turned[16];
    for (int i = 0; i < 16; i += 2) {
        turned[i] = _mm512_unpacklo_epi32(lines[i], lines[i + 1]);
        turned[i + 1] = _mm512_unpackhi_epi32(lines[i], lines[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        lines[i] = _mm512_unpacklo_epi64(turned[i], turned[i + 2]);
        lines[i + 1] = _mm512_unpackhi_epi64(turned[i], turned[i + 2]);
        lines[i + 2] = _mm512_unpacklo_epi64(turned[i + 1], turned[i + 3]);
        lines[i + 3] = _mm512_unpackhi_epi64(turned[i + 1], turned[i + 3]);
    }
    for (int i = 0; i < 16; i += 8) {
        for (int k = 0; k < 4; k++) {
            turned[i + k] = _mm512_shuffle_i32x4(lines[i + k], lines[i + 4 + k], 0x88);
            turned[i + 4 + k] = _mm512_shuffle_i32x4(lines[i + k], lines[i + 4 + k], 0xdd);
        }
    }
    for (int k = 0; k < 4; k++) {
        lines[k] = _mm512_shuffle_i32x4(turned[k], turned[8 + k], 0x88);
        lines[4 + k] = _mm512_shuffle_i32x4(turned[4 + k], turned[12 + k], 0x88);
        lines[8 + k] = _mm512_shuffle_i32x4(turned[k], turned[8 + k], 0xdd);
        lines[12 + k] = _mm512_shuffle_i32x4(turned[4 + k], turned[12 + k], 0xdd);
    }
}

/* [any] Codes k and k + 1 of a vector of words as pairs of bf16, to the nearest; denormals become 0, as the products
 * take them. A code in the lowest bits of the f32 2^23 is that much more. */
GRAFT_PACKED_INLINE __m512i graft_packed_weights_of(graft_packed_words words, int k, graft_packed_floats scales,
                                                    graft_packed_floats zeros) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i order = _mm512_or_si512(lanes, _mm512_slli_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(16)), 16));
    graft_packed_floats weights[2];
    for (int i = 0; i < 2; i++) {
        const graft_packed_words large = ((words >> 4 * (k + i)) & 15) | 0x4b000000;
        weights[i] = scales * ((graft_packed_floats)large - (8388608.0F + zeros));
    }
    return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh((__m512)weights[1], (__m512)weights[0]));
}

/* [any] As graft_packed_widen_tile: a whole tile of codes of 4 bits in order as bf16, a cache line of each row at a
 * time.
 */
GRAFT_PACKED_INLINE void graft_packed_widen_lines(const struct graft_packed *self,
                                                  const struct graft_packed_format format, int64_t first, char *out) {
    enum { STEPS = 4 };
    const int64_t steps = self->in_features / GRAFT_PACKED_CODES, row_bytes = self->in_features * 2;
    struct graft_packed_group at[STEPS];
    for (int64_t step = 0; step < steps; step += STEPS) {
        graft_packed_words words[STEPS][GRAFT_PACKED_VECTORS];
        for (int s = 0; s < STEPS; s++) {
            graft_packed_group_at(self, format, graft_packed_group_of(self, (step + s) * GRAFT_PACKED_CODES), first,
                                  GRAFT_PACKED_TILE, &at[s]);
            format.unpack(self, step + s, first, GRAFT_PACKED_TILE, words[s]);
        }
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            __m512i lines[GRAFT_PACKED_LANES];
            for (int s = 0; s < STEPS; s++) {
                for (int k = 0; k < GRAFT_PACKED_CODES / 2; k++) {
                    lines[s * STEPS + k] = graft_packed_weights_of(words[s][v], 2 * k, at[s].scales[v], at[s].zeros[v]);
                }
            }
            graft_packed_transpose(lines);
            for (int l = 0; l < GRAFT_PACKED_LANES; l++) {
                _mm512_storeu_si512(out + (v * GRAFT_PACKED_LANES + l) * row_bytes + step * 16, lines[l]);
            }
        }
    }
}

#endif

/* [any] graft_packed_arithmetic.widen. */
GRAFT_PACKED_INLINE void graft_packed_widen_any(const struct graft_packed *self,
                                                const struct graft_packed_format format, const int bits,
                                                const int rounded, int64_t first, int64_t n, char *out) {
    const int64_t row_bytes = self->in_features * (rounded ? 2 : 4);
    for (int64_t o = 0; o < n; o += GRAFT_PACKED_TILE) {
#if defined(__AVX512BF16__)
        if (rounded && bits == 4 && n - o >= GRAFT_PACKED_TILE && !graft_packed_is_scattered(self) &&
            self->in_features % GRAFT_PACKED_LINE == 0) {
            graft_packed_widen_lines(self, format, first + o, out + o * row_bytes);
            continue;
        }
#endif
        if (n - o >= GRAFT_PACKED_TILE) {
            graft_packed_widen_tile(self, format, bits, rounded, first + o, GRAFT_PACKED_TILE, out + o * row_bytes);
        } else {
            graft_packed_widen_tile(self, format, bits, rounded, first + o, n - o, out + o * row_bytes);
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
