/* SPDX-License-Identifier: Apache-2.0 */
/* Products of more than GRAFT_GEMV_BY_ROWS tokens for AVX-512 F, BW, VL and BF16; compiled for these and reached only
 * if graft_gemv_pairs_run() allows it. A vector of x holds the same quarter of a line for four tokens; the row's
 * quarter is loaded into all four parts of another vector. So each load of a row serves four tokens, rarely crosses
 * cache lines, and sums seldom wait for each other. Each lane adds up the same pairs in the same order as if a vector
 * held a whole line of one token, so a token's results do not change. */
#include "kernels/simd_avx512.h"

#include "kernels/gemv.h"
#include "kernels/round.h"

enum { LINE = GRAFT_GEMV_LINE, QUARTERS = GRAFT_GEMV_QUARTERS, EIGHT = GRAFT_GEMV_EIGHT };

/* FOUR tokens share a vector, and the sums of FOUR rows are stored together. MOST_VECTORS hold all tokens. */
enum { FOUR = GRAFT_GEMV_FOUR, MOST_VECTORS = 4 };

/* rows times vectors whose sums fit into registers */
enum { SUMS = 24 };

/* Rows that are multiplied by the same columns before the next columns, which are fetched meanwhile: two tiles of four
 * vectors. */
enum { BLOCK_ROWS = 12 };

/* Some columns of some rows, which are multiplied together. */
struct block {
    const struct graft_gemv *gemv;
    int64_t row;
    int64_t k;
    int64_t columns;
    const uint16_t *x;                  /* [QUARTERS, lines, tokens, EIGHT] */
    int64_t ahead;                      /* distance to the elements that are prefetched meanwhile */
    vf (*sums)[QUARTERS][MOST_VECTORS]; /* sums of each row */
};

/* Eight elements of a row, or n of them and zeros, repeated for each of the four tokens. */
INLINE __m512bh spread(const uint16_t *w) {
    return (__m512bh)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)w));
}

INLINE __m512bh spread_part(const uint16_t *w, int64_t n) {
    const unsigned mask = n >= EIGHT ? 0xffu : (1u << (n > 0 ? n : 0)) - 1u;
    return (__m512bh)_mm512_broadcast_i32x4(_mm_maskz_loadu_epi16((__mmask8)mask, w));
}

/* Multiplies one quarter of the lines of rows r .. r + rows - 1 by all tokens, and prefetches a part of what these rows
 * need next. */
INLINE void tile(const struct block *b, int64_t r, const int rows, const int vectors, int quarter) {
    const int64_t step = b->gemv->columns;
    const int64_t lines = b->columns / LINE, rest = b->columns % LINE;
    const uint16_t *w = b->gemv->w + (b->row + r) * step + b->k;
    const uint16_t *next = w + b->ahead + quarter * rows / QUARTERS * step;
    const uint16_t *x = b->x + quarter * (lines + (rest > 0)) * vectors * LINE;
    vf sums[SUMS / 2][MOST_VECTORS];
    __m512bh numbers[MOST_VECTORS];
    w += quarter * EIGHT;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < vectors; j++) {
            sums[i][j] = b->sums[r + i][quarter][j];
        }
    }
    for (int64_t line = 0; line < lines; line++) {
        for (int i = 0; i < (rows + QUARTERS - 1) / QUARTERS; i++) {
            _mm_prefetch(next + i * step + line * LINE, _MM_HINT_T1);
        }
        for (int j = 0; j < vectors; j++) {
            numbers[j] = (__m512bh)_mm512_load_si512(x + (line * vectors + j) * LINE);
        }
        for (int i = 0; i < rows; i++) {
            __m512bh row = spread(w + i * step + line * LINE);
            for (int j = 0; j < vectors; j++) {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, numbers[j]);
            }
        }
    }
    if (rest > 0) {
        for (int j = 0; j < vectors; j++) {
            numbers[j] = (__m512bh)_mm512_load_si512(x + (lines * vectors + j) * LINE);
        }
        for (int i = 0; i < rows; i++) {
            __m512bh row = spread_part(w + i * step + lines * LINE, rest - quarter * EIGHT);
            for (int j = 0; j < vectors; j++) {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, numbers[j]);
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < vectors; j++) {
            b->sums[r + i][quarter][j] = sums[i][j];
        }
    }
}

/* The rest of a block's rows, for which registers have room to spare, is multiplied four rows at a time, then one by
 * one. */
INLINE void run_block(const struct block *b, int64_t rows, const int vectors) {
    const int at_once = SUMS / vectors;
    int64_t r = 0;
    for (; r + at_once <= rows; r += at_once) {
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            tile(b, r, at_once, vectors, quarter);
        }
    }
    for (; r + FOUR <= rows; r += FOUR) {
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            tile(b, r, FOUR, vectors, quarter);
        }
    }
    for (; r < rows; r++) {
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            tile(b, r, 1, vectors, quarter);
        }
    }
}

/* The remaining sum of a row for four tokens, over the quarters. */
INLINE vf quarters_of(vf sums[QUARTERS][MOST_VECTORS], int64_t j) {
    return vf_add(vf_add(sums[0][j], sums[2][j]), vf_add(sums[1][j], sums[3][j]));
}

/* Stores the results of n <= 4 rows. Each is the total of 16 lanes, added up by halves: lanes i and i + 8, then i + 4,
 * i + 2, i + 1. */
static void store_totals(const struct graft_gemv *o, int64_t row, int64_t n, vf sums[FOUR][QUARTERS][MOST_VECTORS]) {
    const __mmask8 rows = (__mmask8)((1u << n) - 1u);
    for (int64_t t = 0; t < o->tokens; t += FOUR) {
        vf a = quarters_of(sums[0], t / FOUR), b = quarters_of(sums[1], t / FOUR);
        vf c = quarters_of(sums[2], t / FOUR), d = quarters_of(sums[3], t / FOUR);
        vf ab = vf_add(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
        vf cd = vf_add(_mm512_shuffle_ps(c, d, 0x44), _mm512_shuffle_ps(c, d, 0xee));
        float of[FOUR * FOUR]; /* [tokens, rows] */
        vf_store(of, vf_add(_mm512_shuffle_ps(ab, cd, 0x88), _mm512_shuffle_ps(ab, cd, 0xdd)));
        for (int64_t i = 0; i < FOUR && t + i < o->tokens; i++) {
            _mm_mask_storeu_ps(o->y + (t + i) * o->y_stride + row, rows, _mm_loadu_ps(of + i * FOUR));
        }
    }
}

/* Multiplies some rows block by block; meanwhile the next block is prefetched, and with the last block the rows that
 * follow. */
INLINE void run_rows(const struct graft_gemv *o, int64_t row, int64_t rows, const int vectors) {
    const int64_t most = graft_gemv_block(o->tokens, o->columns);
    vf sums[BLOCK_ROWS + FOUR][QUARTERS][MOST_VECTORS];
    struct block b = {.gemv = o, .row = row, .x = o->x, .sums = sums};
    for (int64_t r = 0; r < graft_round_up(rows, FOUR); r++) {
        for (int i = 0; i < QUARTERS * vectors; i++) {
            sums[r][i / vectors][i % vectors] = vf_zero();
        }
    }
    for (; b.k < o->columns; b.k += most, b.x += most * vectors * FOUR) {
        const int64_t left = o->columns - b.k;
        b.columns = left < most ? left : most;
        b.ahead = left > most ? most : rows * o->columns - b.k;
        run_block(&b, rows, vectors);
    }
    for (int64_t r = 0; r < rows; r += FOUR) {
        store_totals(o, row + r, rows - r < FOUR ? rows - r : FOUR, sums + r);
    }
}

INLINE void run_vectors(const struct graft_gemv *o, const int vectors) {
    const int at_once = SUMS / vectors;
    const int64_t most = graft_round_up(BLOCK_ROWS, at_once);
    for (int64_t r = 0; r < o->rows; r += most) {
        run_rows(o, r, o->rows - r < most ? o->rows - r : most, vectors);
    }
}

void graft_gemv_quarters(const struct graft_gemv *o) {
    switch ((o->tokens + FOUR - 1) / FOUR) {
    case 2:
        run_vectors(o, 2);
        break;
    case 3:
        run_vectors(o, 3);
        break;
    default:
        run_vectors(o, MOST_VECTORS);
        break;
    }
}
