/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of bf16 with AVX512-BF16, in tiles whose sums stay in registers. Included after simd_avx512.h. */
#ifndef GRAFT_KERNELS_SIMD_PAIRS_H
#define GRAFT_KERNELS_SIMD_PAIRS_H

#include "kernels/loops.h"
#include "kernels/simd_math.h"

enum { PAIR_ROWS = MULTIPLY_VECTORS * VF_WIDTH }; /* pack_rows */

/* Loads 16 pairs of a row. Only the first n elements are read, 0 <= n <= 32; the others are zeros. */
INLINE vf pairs_load(const uint16_t *p, int64_t n) {
    return n >= 32 ? vf_load((const float *)(const void *)p)
                   : _mm512_castsi512_ps(_mm512_maskz_loadu_epi16((__mmask32)((1u << (n > 0 ? n : 0)) - 1u), p));
}

/* Transposes 16 rows, of which `rows` exist, one cache line of each at a time. Meanwhile the rows below are prefetched
 * or, for the last rows, the next columns of the first rows: `next`. */
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

/* Multiplies `tokens` tokens, beginning with token t, by `vectors` vectors of rows; the last vector has `last` lanes.
 */
INLINE void pairs_tile(const struct graft_pairs *o, int64_t t, const int tokens, const int vectors,
                       const int64_t last) {
    const uint16_t *x = o->x + t * o->x_stride;
    const int64_t stride = o->x_stride;
    const int64_t step = o->x_step;
    vf sums[MULTIPLY_ROWS][MULTIPLY_VECTORS];
    __m512bh row[MULTIPLY_VECTORS];
    for (int m = 0; m < tokens; m++) {
        for (int n = 0; n < vectors; n++) {
            sums[m][n] = vf_zero();
        }
    }
    for (int64_t k = 0; k < o->pairs; k++, x += step) {
        for (int n = 0; n < vectors; n++) {
            row[n] = (__m512bh)_mm512_loadu_si512(o->w + k * PAIR_ROWS + n * VF_WIDTH);
        }
        for (int m = 0; m < tokens; m++) {
            int32_t pair;
            memcpy(&pair, x + m * stride, sizeof pair);
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

/* Rounds two vectors of 16 f32 to bf16 and interleaves them as pairs; subnormal numbers become zeros. */
INLINE __m512i pairs_round(vf even, vf odd) {
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(odd, even));
}

/* Writes 32 pairs of elements that are bf16 already. */
INLINE void pairs_join(__m512i even, __m512i odd, uint32_t *out) {
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                         5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(VF_WIDTH));
    _mm512_storeu_si512(out, _mm512_permutex2var_epi16(even, low, odd));
    _mm512_storeu_si512(out + VF_WIDTH, _mm512_permutex2var_epi16(even, high, odd));
}

static void pair_bf16(const uint16_t *even, const uint16_t *odd, int64_t count, uint32_t *out) {
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m512i second = odd != NULL ? _mm512_loadu_si512(odd + i) : _mm512_setzero_si512();
        pairs_join(_mm512_loadu_si512(even + i), second, out + i);
    }
    for (; i < count; i++) {
        out[i] = (odd != NULL ? (uint32_t)odd[i] << 16 : 0) | even[i];
    }
}

static void pair(int32_t reading, const void *even, const void *odd, int64_t count, uint32_t *out) {
    if (reading == GRAFT_READ_BF16) {
        pair_bf16((const uint16_t *)even, (const uint16_t *)odd, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i += VF_WIDTH) {
        int64_t n = count - i < VF_WIDTH ? count - i : VF_WIDTH;
        vf second = odd != NULL ? vf_load_part((const float *)odd + i, n) : vf_zero();
        __m512i pairs = pairs_round(vf_load_part((const float *)even + i, n), second);
        _mm512_mask_storeu_epi32(out + i, vf_lanes(n), pairs);
    }
}

/* Computes what columns_softmax does, in the same order. */
static void columns_softmax_pairs(const float *scores, int64_t rows, int64_t columns, float *maxima, float *sum,
                                  float *factor, uint32_t *out) {
    const vf hidden = vf_set(-INFINITY);
    for (int64_t j = 0; j < columns; j += VF_WIDTH) {
        uint32_t *to = out + j / PAIR_ROWS * ((rows + 1) / 2) * PAIR_ROWS + j % PAIR_ROWS;
        vf before = vf_load(maxima + j);
        vf largest = before;
        for (int64_t i = 0; i < rows; i++) {
            largest = vf_max(vf_load(scores + i * columns + j), largest);
        }
        vf shift = vf_if_equal(largest, hidden, vf_zero(), largest);
        vf total = vf_zero();
        for (int64_t i = 0; i < rows; i += 2, to += PAIR_ROWS) {
            vf even = vf_exp_falling(vf_sub(vf_load(scores + i * columns + j), shift));
            vf odd = i + 1 < rows ? vf_exp_falling(vf_sub(vf_load(scores + (i + 1) * columns + j), shift)) : vf_zero();
            total = vf_add(vf_add(total, even), odd);
            _mm512_storeu_si512(to, pairs_round(even, odd));
        }
        vf scaling = vf_exp(vf_sub(before, shift));
        vf_store(factor + j, scaling);
        vf_store(sum + j, vf_fma(vf_load(sum + j), scaling, total));
        vf_store(maxima + j, largest);
    }
}

#endif
