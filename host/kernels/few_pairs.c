/* SPDX-License-Identifier: Apache-2.0 */
/* For AVX-512 F, BW and BF16; compiled for these alone and reached only where graft_few_pairs_run() allows it. */
#include "kernels/simd_avx512.h"

#include "kernels/few.h"

enum { PAIRS = 32 }; /* numbers of a vector, and of a cache line */

/* Rows that share what is read of x; tokens that share what is read of the rows. Their sums stay in registers. */
enum { ROWS = 4, TOKENS = 6, MOST_TOKENS = 16 };

/* What a block reads stays in the first-level cache: so many columns of all tokens, the sums of so many rows, and of
 * the rows themselves ROWS at a time. */
enum { BLOCK_COLUMNS = 512, BLOCK_ROWS = 16 };

/* One token is bound by reading memory: the rows take turns, four cache lines each, and what comes AHEAD later is
 * fetched into the second-level cache meanwhile: more lines can be under way to it than to the first. The processor
 * follows a few long streams better than short steps. */
enum { TURN_LINES = 4, TURN = TURN_LINES * PAIRS, AHEAD = 1024 }; /* in numbers */

INLINE __m512bh load(const uint16_t *p) {
    return (__m512bh)_mm512_loadu_si512(p);
}

/* The first n < PAIRS; the others are zeros. */
INLINE __m512bh load_part(const uint16_t *p, int64_t n) {
    return (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((1u << n) - 1u), p);
}

/* sum + the numbers 0 .. columns - 1 of a row times those of x. */
INLINE vf add_pairs(vf sum, const uint16_t *w, const uint16_t *x, int64_t columns) {
    int64_t k = 0;
    for (; k + PAIRS <= columns; k += PAIRS) {
        sum = _mm512_dpbf16_ps(sum, load(w + k), load(x + k));
    }
    return k < columns ? _mm512_dpbf16_ps(sum, load_part(w + k, columns - k), load_part(x + k, columns - k)) : sum;
}

/* The totals of four vectors, each by halves: lane i and i + 8, then i + 4, i + 2, i + 1. */
INLINE __m128 totals(vf a, vf b, vf c, vf d) {
    vf ab = vf_add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    vf cd = vf_add(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
    vf fours = vf_add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    vf twos = vf_add(fours, _mm512_permute_ps(fours, 0x4e));
    vf ones = vf_add(twos, _mm512_permute_ps(twos, 0xb1));
    return _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, ones));
}

/* ---- One token ----------------------------------------------------------------------------------------------------
 */

/* How many numbers of the line in which a row begins belong to others. */
INLINE int64_t offset_of(const uint16_t *row) {
    return (int64_t)((uintptr_t)row % 64 / sizeof *row);
}

/* That line; what lies before the row is zeros. */
INLINE __m512i first_line(const uint16_t *row) {
    int64_t offset = offset_of(row);
    return _mm512_maskz_loadu_epi16(~(__mmask32)0 << offset, row - offset);
}

/* Picks 32 numbers of a row from two lines. */
INLINE __m512i order_of(const uint16_t *row) {
    const __m512i count = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                           12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi16(count, _mm512_set1_epi16((short)offset_of(row)));
}

/* sum + the next TURN numbers of a row times those at x, while lines `ahead` further on are fetched. `*line` is the
 * last one read, `next` the one behind it. */
INLINE vf add_turn(vf sum, __m512i *line, __m512i order, const uint16_t *next, const uint16_t *x, int64_t ahead) {
    __m512i lines[TURN_LINES + 1] = {*line};
    for (int i = 0; i < TURN_LINES; i++) {
        _mm_prefetch(next + ahead + i * PAIRS, _MM_HINT_T1);
    }
    for (int i = 0; i < TURN_LINES; i++) {
        lines[i + 1] = _mm512_load_si512(next + i * PAIRS);
        __m512i numbers = _mm512_permutex2var_epi16(lines[i], order, lines[i + 1]);
        sum = _mm512_dpbf16_ps(sum, (__m512bh)numbers, load(x + i * PAIRS));
    }
    *line = lines[TURN_LINES];
    return sum;
}

/* Rows r .. r + ROWS - 1 with the only token, by whole cache lines wherever they begin. Loads that touch two lines
 * each, as weights that begin anywhere in a file mean, would take a tenth longer. */
static void stream(const struct graft_few *o, int64_t r) {
    const int64_t step = o->columns;
    const uint16_t *x = o->x;
    const uint16_t *w[ROWS];
    const uint16_t *next[ROWS];
    vf sums[ROWS];
    __m512i lines[ROWS], orders[ROWS];
    int64_t whole = step - PAIRS; /* of these the line that follows is in the row, too */
    int64_t k = 0;
    for (int i = 0; i < ROWS; i++) {
        w[i] = o->w + (r + i) * step;
        next[i] = w[i] - offset_of(w[i]) + PAIRS;
        lines[i] = first_line(w[i]);
        orders[i] = order_of(w[i]);
        sums[i] = vf_zero();
    }
    for (; k + TURN <= whole; k += TURN) {
        int64_t ahead = k + AHEAD < step ? AHEAD : AHEAD + (ROWS - 1) * step; /* rows below */
        for (int i = 0; i < ROWS; i++) {
            sums[i] = add_turn(sums[i], &lines[i], orders[i], next[i] + k, x + k, ahead);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        sums[i] = add_pairs(sums[i], w[i] + k, x + k, step - k);
    }
    _mm_storeu_ps(o->y + r, totals(sums[0], sums[1], sums[2], sums[3]));
}

/* ---- Several ------------------------------------------------------------------------------------------------------
 */

/* Some columns of some rows with all tokens. */
struct block {
    const struct graft_few *few;
    int64_t row;
    int64_t rows;
    int64_t k;
    int64_t columns;
    int64_t ahead;           /* how far behind this block's numbers those lie that are wanted after it */
    vf (*sums)[MOST_TOKENS]; /* [rows][tokens] */
};

/* `rows` rows from r on with `tokens` tokens from t on. Of the rows to be fetched, this tile does `first` to `last`. */
INLINE void tile(const struct block *b, int64_t r, const int rows, int64_t t, const int tokens, int first, int last) {
    const int64_t step = b->few->columns;
    const int64_t x_step = b->few->x_stride;
    const uint16_t *w = b->few->w + (b->row + r) * step + b->k;
    const uint16_t *x = b->few->x + t * x_step + b->k;
    vf sums[ROWS][TOKENS];
    __m512bh numbers[TOKENS];
    int64_t k = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = b->sums[r + i][t + j];
        }
    }
    for (; k + PAIRS <= b->columns; k += PAIRS) {
        for (int row = first; row < last; row++) {
            _mm_prefetch(w + row * step + b->ahead + k, _MM_HINT_T1);
        }
        for (int j = 0; j < tokens; j++) {
            numbers[j] = load(x + j * x_step + k);
        }
        for (int i = 0; i < rows; i++) {
            __m512bh row = load(w + i * step + k);
            for (int j = 0; j < tokens; j++) {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, numbers[j]);
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            b->sums[r + i][t + j] = add_pairs(sums[i][j], w + i * step + k, x + j * x_step + k, b->columns - k);
        }
    }
}

static void tile_rows(const struct block *b, int64_t r, int64_t t, int64_t tokens, int first, int last) {
    switch (tokens) {
    case 1:
        tile(b, r, ROWS, t, 1, first, last);
        break;
    case 2:
        tile(b, r, ROWS, t, 2, first, last);
        break;
    case 3:
        tile(b, r, ROWS, t, 3, first, last);
        break;
    case 4:
        tile(b, r, ROWS, t, 4, first, last);
        break;
    case 5:
        tile(b, r, ROWS, t, 5, first, last);
        break;
    default:
        tile(b, r, ROWS, t, TOKENS, first, last);
        break;
    }
}

/* The tokens are cut into tiles of about the same size, each of which fetches its part of the rows that come next. */
static void run_block(const struct block *b) {
    int64_t tokens = b->few->tokens;
    int tiles = (int)((tokens + TOKENS - 1) / TOKENS);
    int64_t r = 0;
    for (; r + ROWS <= b->rows; r += ROWS) {
        for (int i = 0; i < tiles; i++) {
            int64_t t = i * tokens / tiles;
            tile_rows(b, r, t, (i + 1) * tokens / tiles - t, i * ROWS / tiles, (i + 1) * ROWS / tiles);
        }
    }
    for (; r < b->rows; r++) {
        for (int64_t t = 0; t < tokens; t++) {
            tile(b, r, 1, t, 1, 0, 0);
        }
    }
}

static void store_totals(const struct block *b) {
    const struct graft_few *o = b->few;
    for (int64_t t = 0; t < o->tokens; t++) {
        float *y = o->y + t * o->y_stride + b->row;
        int64_t r = 0;
        for (; r + 4 <= b->rows; r += 4) {
            _mm_storeu_ps(y + r, totals(b->sums[r][t], b->sums[r + 1][t], b->sums[r + 2][t], b->sums[r + 3][t]));
        }
        for (; r < b->rows; r++) {
            y[r] = _mm_cvtss_f32(totals(b->sums[r][t], vf_zero(), vf_zero(), vf_zero()));
        }
    }
}

/* Rows row .. row + rows - 1, rows <= BLOCK_ROWS, with all tokens. */
static void run_rows(const struct graft_few *o, int64_t row, int64_t rows) {
    vf sums[BLOCK_ROWS][MOST_TOKENS];
    struct block b = {.few = o, .row = row, .rows = rows, .sums = sums};
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t t = 0; t < o->tokens; t++) {
            sums[r][t] = vf_zero();
        }
    }
    for (; b.k < o->columns; b.k += BLOCK_COLUMNS) {
        int64_t left = o->columns - b.k;
        b.columns = left < BLOCK_COLUMNS ? left : BLOCK_COLUMNS;
        b.ahead = left > BLOCK_COLUMNS ? BLOCK_COLUMNS : rows * o->columns - b.k;
        run_block(&b);
    }
    store_totals(&b);
}

void graft_few_pairs(const struct graft_few *o) {
    int64_t r = 0;
    for (; o->tokens == 1 && r + ROWS <= o->rows; r += ROWS) {
        stream(o, r);
    }
    for (; r < o->rows; r += BLOCK_ROWS) {
        run_rows(o, r, o->rows - r < BLOCK_ROWS ? o->rows - r : BLOCK_ROWS);
    }
}
