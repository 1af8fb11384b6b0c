/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of bf16 with AVX512-BF16, in tiles whose sums stay in registers. Included after simd_avx512.h. */
#ifndef GRAFT_KERNELS_SIMD_PAIRS_H
#define GRAFT_KERNELS_SIMD_PAIRS_H

#include "kernels/loops.h"

enum { PAIR_ROWS = MULTIPLY_VECTORS * VF_WIDTH }; /* pack_rows */

/* 16 pairs of a row; of the numbers only the first n, 0 <= n <= 32, are read and the others are zeros. */
INLINE vf pairs_load(const uint16_t *p, int64_t n) {
    return n >= 32 ? vf_load((const float *)(const void *)p)
                   : _mm512_castsi512_ps(_mm512_maskz_loadu_epi16((__mmask32)((1u << (n > 0 ? n : 0)) - 1u), p));
}

/* Transposes 16 rows, of which `rows` are there, a cache line of each at a time. The rows below are fetched meanwhile,
 * and at the end the first again, further right: `next`. */
INLINE void pairs_pack_rows(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, const uint16_t *next,
                            uint32_t *out) {
    for (int64_t k = 0; k < columns; k += 32) {
        vf square[VF_WIDTH];
        for (int64_t i = 0; i < VF_WIDTH; i++) {
            _mm_prefetch((const char *)(next + i * w_stride + k), _MM_HINT_T1);
            square[i] = i < rows ? pairs_load(w + i * w_stride + k, columns - k) : vf_zero();
        }
        vf_transpose(square);
        for (int64_t i = 0; i < VF_WIDTH && k + 2 * i < columns; i++) {
            vf_store((float *)(void *)(out + (k / 2 + i) * PAIR_ROWS), square[i]);
        }
    }
}

static void pack_pairs(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, uint32_t *out) {
    for (int64_t r = 0; r < PAIR_ROWS; r += VF_WIDTH) {
        const uint16_t *from = w + (r < rows ? r : 0) * w_stride;
        const uint16_t *next = r + VF_WIDTH < rows ? from + VF_WIDTH * w_stride : w + columns;
        if (r + VF_WIDTH <= rows) {
            pairs_pack_rows(from, w_stride, VF_WIDTH, columns, next, out + r);
        } else {
            pairs_pack_rows(from, w_stride, rows - r, columns, next, out + r);
        }
    }
}

/* `tokens` tokens from token t on with `vectors` vectors of rows, the last of which has `last` lanes. */
INLINE void pairs_tile(const struct graft_pairs *o, int64_t t, const int tokens, const int vectors,
                       const int64_t last) {
    const uint16_t *x = o->x + t * o->x_stride;
    vf sums[MULTIPLY_ROWS][MULTIPLY_VECTORS];
    __m512bh row[MULTIPLY_VECTORS];
    for (int m = 0; m < tokens; m++) {
        for (int n = 0; n < vectors; n++) {
            sums[m][n] = vf_zero();
        }
    }
    for (int64_t k = 0; k < o->pairs; k++) {
        for (int n = 0; n < vectors; n++) {
            row[n] = (__m512bh)_mm512_loadu_si512(o->w + k * PAIR_ROWS + n * VF_WIDTH);
        }
        for (int m = 0; m < tokens; m++) {
            int32_t pair;
            memcpy(&pair, x + m * o->x_stride + 2 * k, sizeof pair);
            __m512bh factor = (__m512bh)_mm512_set1_epi32(pair);
            for (int n = 0; n < vectors; n++) {
                sums[m][n] = _mm512_dpbf16_ps(sums[m][n], factor, row[n]);
            }
        }
    }
    for (int m = 0; m < tokens; m++) {
        for (int n = 0; n < vectors; n++) {
            float *to = o->y + (t + m) * o->y_stride + n * VF_WIDTH;
            int64_t lanes = n + 1 < vectors ? VF_WIDTH : last;
            vf before = o->add ? vf_load_part(to, lanes) : vf_zero();
            vf_store_part(to, vf_add(before, sums[m][n]), lanes);
        }
    }
}

INLINE void pairs_tokens(const struct graft_pairs *o, const int vectors) {
    const int64_t last = o->rows - (vectors - 1) * VF_WIDTH;
    int64_t t = 0;
    for (; t + MULTIPLY_ROWS <= o->tokens; t += MULTIPLY_ROWS) {
        pairs_tile(o, t, MULTIPLY_ROWS, vectors, last);
    }
    if (t + 4 <= o->tokens) {
        pairs_tile(o, t, 4, vectors, last);
        t += 4;
    }
    if (t + 2 <= o->tokens) {
        pairs_tile(o, t, 2, vectors, last);
        t += 2;
    }
    if (t < o->tokens) {
        pairs_tile(o, t, 1, vectors, last);
    }
}

static void multiply_pairs(const struct graft_pairs *o) {
    switch ((o->rows + VF_WIDTH - 1) / VF_WIDTH) {
    case 1:
        pairs_tokens(o, 1);
        break;
    case 2:
        pairs_tokens(o, 2);
        break;
    case 3:
        pairs_tokens(o, 3);
        break;
    default:
        pairs_tokens(o, 4);
        break;
    }
}

#endif
