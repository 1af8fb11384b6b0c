/* SPDX-License-Identifier: Apache-2.0 */
/* For AVX-512 F, BW and BF16; compiled for these alone and reached only where graft_few_pairs_run() allows it. */
#include "kernels/simd_avx512.h"

#include "kernels/few.h"

enum { PAIRS = 32 }; /* numbers of a vector */

/* So many rows share what is read of x, and so many tokens what is read of the rows. */
enum { ROWS = 8, TOKENS = 2 };

/* One token is bound by reading memory: four rows take turns, two cache lines each, and what comes AHEAD bytes later is
 * fetched meanwhile. The processor follows a few long streams better than short steps. */
enum { STREAM_ROWS = 4, STREAM_TURN = 64, STREAM_AHEAD = 1024 }; /* in numbers */

INLINE __m512bh load(const uint16_t *p) {
    return (__m512bh)_mm512_loadu_si512(p);
}

/* The first n < PAIRS; the others are zeros. */
INLINE __m512bh load_part(const uint16_t *p, int64_t n) {
    return (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((1u << n) - 1u), p);
}

INLINE float total(vf sums) {
    return _mm512_reduce_add_ps(sums);
}

/* sum + the numbers 0 .. columns - 1 of a row times those of x. */
INLINE vf add_pairs(vf sum, const uint16_t *w, const uint16_t *x, int64_t columns) {
    int64_t k = 0;
    for (; k + PAIRS <= columns; k += PAIRS) {
        sum = _mm512_dpbf16_ps(sum, load(w + k), load(x + k));
    }
    return k < columns ? _mm512_dpbf16_ps(sum, load_part(w + k, columns - k), load_part(x + k, columns - k)) : sum;
}

INLINE vf add_turn(vf sum, const uint16_t *w, const uint16_t *ahead, const uint16_t *x) {
    _mm_prefetch(ahead, _MM_HINT_NTA);
    _mm_prefetch(ahead + PAIRS, _MM_HINT_NTA);
    return add_pairs(sum, w, x, STREAM_TURN);
}

/* Rows r .. r + 3 with the only token. */
static void stream(const struct graft_few *o, int64_t r) {
    const int64_t step = o->columns;
    const uint16_t *w = o->w + r * step;
    const uint16_t *x = o->x;
    vf sums[STREAM_ROWS] = {vf_zero(), vf_zero(), vf_zero(), vf_zero()};
    int64_t k = 0;
    for (; k + STREAM_TURN <= step; k += STREAM_TURN) {
        int64_t ahead = k + STREAM_AHEAD;
        ahead += ahead < step ? 0 : (STREAM_ROWS - 1) * step; /* rows below */
        for (int i = 0; i < STREAM_ROWS; i++) {
            sums[i] = add_turn(sums[i], w + i * step + k, w + i * step + ahead, x + k);
        }
    }
    for (int i = 0; i < STREAM_ROWS; i++) {
        o->y[r + i] = total(add_pairs(sums[i], w + i * step + k, x + k, step - k));
    }
}

/* Rows r .. r + ROWS - 1 with `tokens` tokens from t on, while the rows from `next` to `end` are fetched. */
INLINE void tile(const struct graft_few *o, int64_t r, int64_t t, const int tokens, int64_t next, int64_t end) {
    const int64_t step = o->columns;
    const uint16_t *w = o->w + r * step;
    const uint16_t *x = o->x + t * step;
    vf sums[ROWS][TOKENS];
    __m512bh numbers[TOKENS];
    int64_t k = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = vf_zero();
        }
    }
    for (; k + PAIRS <= step; k += PAIRS) {
        for (int64_t row = next; row < end; row++) {
            _mm_prefetch(o->w + row * step + k, _MM_HINT_T1);
        }
        for (int j = 0; j < tokens; j++) {
            numbers[j] = load(x + j * step + k);
        }
        for (int i = 0; i < ROWS; i++) {
            __m512bh row = load(w + i * step + k);
            for (int j = 0; j < tokens; j++) {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, numbers[j]);
            }
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < tokens; j++) {
            vf sum = add_pairs(sums[i][j], w + i * step + k, x + j * step + k, step - k);
            o->y[(t + j) * o->y_stride + r + i] = total(sum);
        }
    }
}

/* ROWS rows with all tokens. The rows below them are fetched by the way, some with each tile. */
static void run_rows(const struct graft_few *o, int64_t r) {
    int64_t tiles = (o->tokens + TOKENS - 1) / TOKENS;
    int64_t t = 0;
    for (int64_t i = 0; i < tiles; i++, t += TOKENS) {
        int64_t next = r + ROWS + i * ROWS / tiles;
        int64_t end = r + ROWS + (i + 1) * ROWS / tiles;
        if (t + TOKENS <= o->tokens) {
            tile(o, r, t, TOKENS, next, end);
        } else {
            tile(o, r, t, 1, next, end);
        }
    }
}

void graft_few_pairs(const struct graft_few *o) {
    int64_t r = 0;
    for (; o->tokens == 1 && r + STREAM_ROWS <= o->rows; r += STREAM_ROWS) {
        stream(o, r);
    }
    for (; r + ROWS <= o->rows; r += ROWS) {
        run_rows(o, r);
    }
    for (; r < o->rows; r++) {
        for (int64_t t = 0; t < o->tokens; t++) {
            vf sum = add_pairs(vf_zero(), o->w + r * o->columns, o->x + t * o->columns, o->columns);
            o->y[t * o->y_stride + r] = total(sum);
        }
    }
}
