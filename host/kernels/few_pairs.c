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

/* One token is bound by reading memory: two rows take turns, a cache line each, and what comes AHEAD later is fetched
 * meanwhile, into the second-level cache: more lines can be under way to it than to the first. */
enum { AHEAD = 1024 }; /* in numbers */

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

/* A row on its way: whole cache lines wherever it begins. Loads that touch two lines each, as weights that begin
 * anywhere in a file mean, would take a tenth longer. */
struct stream {
    const uint16_t *next; /* the line behind the last one read, if column 0 came next */
    __m512i line;         /* the last one read */
    __m512i order;
    vf sum;
};

INLINE struct stream stream_of(const uint16_t *row) {
    struct stream s = {row - offset_of(row) + PAIRS, first_line(row), order_of(row), vf_zero()};
    return s;
}

/* Adds the products of the row's numbers k .. k + PAIRS - 1 with those at x. */
INLINE void add_line(struct stream *s, int64_t k, const uint16_t *x) {
    __m512i line = _mm512_load_si512(s->next + k);
    _mm_prefetch(s->next + k + AHEAD, _MM_HINT_T1); /* of this row, or the one below: its turn is next */
    s->sum = _mm512_dpbf16_ps(s->sum, (__m512bh)_mm512_permutex2var_epi16(s->line, s->order, line), load(x));
    s->line = line;
}

/* Rows upper and lower with the only token. */
static void multiply_two(const struct graft_few *o, int64_t upper, int64_t lower) {
    const int64_t columns = o->columns;
    const uint16_t *above = o->w + upper * columns, *below = o->w + lower * columns;
    struct stream a = stream_of(above), b = stream_of(below);
    int64_t k = 0;
    for (; k + 2 * PAIRS <= columns; k += PAIRS) { /* the line that follows is in the row, too */
        add_line(&a, k, o->x + k);
        add_line(&b, k, o->x + k);
    }
    a.sum = add_pairs(a.sum, above + k, o->x + k, columns - k);
    b.sum = add_pairs(b.sum, below + k, o->x + k, columns - k);
    __m128 sums = totals(a.sum, b.sum, vf_zero(), vf_zero());
    o->y[upper] = _mm_cvtss_f32(sums);
    o->y[lower] = _mm_cvtss_f32(_mm_movehdup_ps(sums));
}

/* The first `rows` rows, an even number, with the only token: a row of either half by turns. So memory is read in two
 * long streams, which the processor follows better than four, or steps from row to row. */
static void multiply_halves(const struct graft_few *o, int64_t rows) {
    for (int64_t r = 0; r < rows / 2; r++) {
        multiply_two(o, r, rows / 2 + r);
    }
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
    int64_t r = o->tokens == 1 ? o->rows / 2 * 2 : 0;
    if (o->tokens == 1) {
        multiply_halves(o, r);
    }
    for (; r < o->rows; r += BLOCK_ROWS) {
        run_rows(o, r, o->rows - r < BLOCK_ROWS ? o->rows - r : BLOCK_ROWS);
    }
}
