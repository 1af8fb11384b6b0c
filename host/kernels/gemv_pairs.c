/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix times vector products for AVX-512 F, BW and BF16; compiled for these and reached only if
 * graft_gemv_pairs_run() allows it. Up to GRAFT_GEMV_BY_ROWS tokens are limited by memory. Two rows are read in turn, a
 * cache line each, and elements AHEAD of them are prefetched into the second-level cache, to which more lines can be in
 * flight than to the first-level cache. On processors where that does not matter (graft_isa_fetches_near), elements
 * NEAR ahead are prefetched into the first-level cache. */
#include "kernels/simd_avx512.h"

#include "graft/isa.h"
#include "kernels/gemv.h"

enum { PAIRS = 32 }; /* elements of a vector, which fill a cache line */

enum { AHEAD = 1024, NEAR = 1536 }; /* in elements */

INLINE void fetch(const uint16_t *line, const int is_near) {
    if (is_near) {
        _mm_prefetch(line + NEAR, _MM_HINT_T0);
    } else {
        _mm_prefetch(line + AHEAD, _MM_HINT_T1);
    }
}

INLINE __m512bh load(const uint16_t *p) {
    return (__m512bh)_mm512_loadu_si512(p);
}

/* Loads the first n < PAIRS elements; the others become zeros. */
INLINE __m512bh load_part(const uint16_t *p, int64_t n) {
    return (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((1u << n) - 1u), p);
}

/* sum + elements 0 .. columns - 1 of a row times those of x. */
INLINE vf add_pairs(vf sum, const uint16_t *w, const uint16_t *x, int64_t columns) {
    int64_t k = 0;
    for (; k + PAIRS <= columns; k += PAIRS) {
        sum = _mm512_dpbf16_ps(sum, load(w + k), load(x + k));
    }
    return k < columns ? _mm512_dpbf16_ps(sum, load_part(w + k, columns - k), load_part(x + k, columns - k)) : sum;
}

/* How many elements of the row's first cache line come before the row. */
INLINE int64_t offset_of(const uint16_t *row) {
    return (int64_t)((uintptr_t)row % 64 / sizeof *row);
}

/* The first cache line, with zeros in place of the elements before the row. */
INLINE __m512i first_line(const uint16_t *row) {
    int64_t offset = offset_of(row);
    return _mm512_maskz_loadu_epi16(~(__mmask32)0 << offset, row - offset);
}

/* The indices that pick 32 elements of a row from two cache lines. */
INLINE __m512i order_of(const uint16_t *row) {
    const __m512i count = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                           12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi16(count, _mm512_set1_epi16((short)offset_of(row)));
}

/* A row that is read in whole cache lines, wherever it begins. Unaligned loads, each of which touches two lines, take a
 * tenth longer; weights may begin anywhere in a file. */
struct stream {
    const uint16_t *next; /* the row's second cache line; column k reads the one at next + k */
    __m512i line;         /* the last one read */
    __m512i order;
};

INLINE struct stream stream_of(const uint16_t *row) {
    struct stream s = {row - offset_of(row) + PAIRS, first_line(row), order_of(row)};
    return s;
}

/* Elements k .. k + PAIRS - 1. The cache line after them is read as well. */
INLINE __m512bh numbers_of(struct stream *s, int64_t k) {
    __m512i line = _mm512_load_si512(s->next + k);
    __m512i numbers = _mm512_permutex2var_epi16(s->line, s->order, line);
    s->line = line;
    return (__m512bh)numbers;
}

/* Multiplies rows `upper` and `lower` by all tokens. */
INLINE void multiply_two(const struct graft_gemv *o, int64_t upper, int64_t lower, const int tokens,
                         const int is_near) {
    const int64_t columns = o->columns;
    const uint16_t *above = o->w + upper * columns, *below = o->w + lower * columns;
    struct stream a = stream_of(above), b = stream_of(below);
    vf a_sums[GRAFT_GEMV_BY_ROWS], b_sums[GRAFT_GEMV_BY_ROWS];
    int64_t k = 0;
    for (int t = 0; t < tokens; t++) {
        a_sums[t] = vf_zero();
        b_sums[t] = vf_zero();
    }
    /* The next cache line is in this row, too. Prefetches stay within this row or the next one to be read. */
    for (; k + 2 * PAIRS <= columns; k += PAIRS) {
        fetch(a.next + k, is_near);
        __m512bh numbers = numbers_of(&a, k);
        for (int t = 0; t < tokens; t++) {
            a_sums[t] = _mm512_dpbf16_ps(a_sums[t], numbers, load(o->x + t * o->x_stride + k));
        }
        fetch(b.next + k, is_near);
        numbers = numbers_of(&b, k);
        for (int t = 0; t < tokens; t++) {
            b_sums[t] = _mm512_dpbf16_ps(b_sums[t], numbers, load(o->x + t * o->x_stride + k));
        }
    }
    for (int t = 0; t < tokens; t++) {
        const uint16_t *x = o->x + t * o->x_stride + k;
        float *y = o->y + t * o->y_stride;
        y[upper] = vf_sum(add_pairs(a_sums[t], above + k, x, columns - k));
        y[lower] = vf_sum(add_pairs(b_sums[t], below + k, x, columns - k));
    }
}

/* Multiplies the first `rows` rows, an even number, taking a row of the first half and one of the second in turn:
 * memory is then read in two long streams, which the processor's prefetcher follows better than four streams, or than
 * jumps from row to row. */
INLINE void multiply_halves(const struct graft_gemv *o, int64_t rows, const int tokens, const int is_near) {
    for (int64_t r = 0; r < rows / 2; r++) {
        multiply_two(o, r, rows / 2 + r, tokens, is_near);
    }
}

/* Multiplies the last row of an odd number of rows. */
static void multiply_last(const struct graft_gemv *o, int64_t row) {
    for (int64_t t = 0; t < o->tokens; t++) {
        vf sum = add_pairs(vf_zero(), o->w + row * o->columns, o->x + t * o->x_stride, o->columns);
        o->y[t * o->y_stride + row] = vf_sum(sum);
    }
}

/* Multiplies the first `rows` rows by any number of tokens. `is_near` is a compile-time constant, so that the loops
 * need not test it. */
INLINE void multiply_even(const struct graft_gemv *o, int64_t rows, const int is_near) {
    switch (o->tokens) {
    case 1:
        multiply_halves(o, rows, 1, is_near);
        break;
    case 2:
        multiply_halves(o, rows, 2, is_near);
        break;
    case 3:
        multiply_halves(o, rows, 3, is_near);
        break;
    case 4:
        multiply_halves(o, rows, 4, is_near);
        break;
    case 5:
        multiply_halves(o, rows, 5, is_near);
        break;
    default:
        multiply_halves(o, rows, GRAFT_GEMV_BY_ROWS, is_near);
        break;
    }
}

void graft_gemv_pairs(const struct graft_gemv *o) {
    const int64_t even = o->rows / 2 * 2;
    if (graft_isa_fetches_near()) {
        multiply_even(o, even, 1);
    } else {
        multiply_even(o, even, 0);
    }
    if (even < o->rows) {
        multiply_last(o, even);
    }
}
