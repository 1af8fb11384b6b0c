/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For AVX-512 F, BW and BF16; compiled for these alone and reached only where graft_few_pairs_run() allows it.
 *
 * Up to GRAFT_FEW_BY_ROWS tokens.
 */
#include "kernels/simd_avx512.h"

#include "kernels/few.h"

enum { PAIRS = 32 }; /* numbers of a vector, and of a cache line */

/* Rows that share what is read of x. Their sums with all tokens stay in registers. */
enum { ROWS = 4, TOKENS = GRAFT_FEW_BY_ROWS };

/* What a block reads of x stays in the first-level cache: so many numbers, of all tokens. It has the sums of so many
 * rows, and multiplies ROWS of them at a time. */
enum { BLOCK_NUMBERS = 8192, BLOCK_ROWS = 16 };

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
};

INLINE struct stream stream_of(const uint16_t *row) {
    struct stream s = {row - offset_of(row) + PAIRS, first_line(row), order_of(row)};
    return s;
}

/* The numbers k .. k + PAIRS - 1; the line that follows them is read, too. */
INLINE __m512bh numbers_of(struct stream *s, int64_t k) {
    __m512i line = _mm512_load_si512(s->next + k);
    __m512i numbers = _mm512_permutex2var_epi16(s->line, s->order, line);
    s->line = line;
    return (__m512bh)numbers;
}

/* Rows upper and lower with the only token. */
static void multiply_two(const struct graft_few *o, int64_t upper, int64_t lower) {
    const int64_t columns = o->columns;
    const uint16_t *above = o->w + upper * columns, *below = o->w + lower * columns;
    struct stream a = stream_of(above), b = stream_of(below);
    vf a_sum = vf_zero(), b_sum = vf_zero();
    int64_t k = 0;
    /* The line that follows is in the row, too. What is fetched is, or in the row below, whose turn is next. */
    for (; k + 2 * PAIRS <= columns; k += PAIRS) {
        _mm_prefetch(a.next + k + AHEAD, _MM_HINT_T1);
        a_sum = _mm512_dpbf16_ps(a_sum, numbers_of(&a, k), load(o->x + k));
        _mm_prefetch(b.next + k + AHEAD, _MM_HINT_T1);
        b_sum = _mm512_dpbf16_ps(b_sum, numbers_of(&b, k), load(o->x + k));
    }
    a_sum = add_pairs(a_sum, above + k, o->x + k, columns - k);
    b_sum = add_pairs(b_sum, below + k, o->x + k, columns - k);
    __m128 sums = totals(a_sum, b_sum, vf_zero(), vf_zero());
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

/* Some columns of some rows with all tokens, `at_once` rows at a time. */
struct block {
    const struct graft_few *few;
    int at_once;   /* 2 or ROWS */
    int64_t times; /* at_once * times <= BLOCK_ROWS */
    int64_t row;   /* the first of all */
    int64_t part;  /* from row to row of those at once */
    int64_t k;
    int64_t columns;
    int64_t ahead;      /* how far behind this block's numbers those lie that are fetched meanwhile */
    vf (*sums)[TOKENS]; /* [times * at_once][tokens] */
};

/* Time r. */
INLINE void tile(const struct block *b, int64_t r, const int rows, const int tokens) {
    const int64_t step = b->part * b->few->columns;
    const int64_t x_step = b->few->x_stride;
    const uint16_t *w = b->few->w + (b->row + r) * b->few->columns + b->k;
    const uint16_t *x = b->few->x + b->k;
    vf sums[ROWS][TOKENS];
    struct stream streams[ROWS];
    __m512bh numbers[TOKENS];
    int64_t k = 0;
    for (int i = 0; i < rows; i++) {
        streams[i] = stream_of(w + i * step);
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = b->sums[r * rows + i][j];
        }
    }
    for (; k + 2 * PAIRS <= b->columns; k += PAIRS) {
        for (int i = 0; i < rows; i++) {
            _mm_prefetch(streams[i].next + k + b->ahead, _MM_HINT_T1);
        }
        for (int j = 0; j < tokens; j++) {
            numbers[j] = load(x + j * x_step + k);
        }
        for (int i = 0; i < rows; i++) {
            __m512bh row = numbers_of(&streams[i], k);
            for (int j = 0; j < tokens; j++) {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, numbers[j]);
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            b->sums[r * rows + i][j] = add_pairs(sums[i][j], w + i * step + k, x + j * x_step + k, b->columns - k);
        }
    }
}

static void run_block(const struct block *b) {
    for (int64_t r = 0; r < b->times; r++) {
        switch (b->few->tokens) {
        case 2:
            tile(b, r, 2, 2);
            break;
        case 3:
            tile(b, r, ROWS, 3);
            break;
        default:
            tile(b, r, ROWS, TOKENS);
            break;
        }
    }
}

static void store_totals(const struct block *b) {
    const struct graft_few *o = b->few;
    for (int64_t r = 0; r < b->times; r++) {
        for (int64_t t = 0; t < o->tokens; t++) {
            float *y = o->y + t * o->y_stride + b->row + r;
            vf(*sums)[TOKENS] = b->sums + r * b->at_once;
            float of[ROWS];
            _mm_storeu_ps(of, totals(sums[0][t], sums[1][t], sums[b->at_once - 2][t], sums[b->at_once - 1][t]));
            for (int i = 0; i < b->at_once; i++) {
                y[i * b->part] = of[i];
            }
        }
    }
}

/* The rows of a block with all tokens. Columns come in as many blocks as they must; then the next block is fetched, and
 * with the last what comes after these rows. */
static void run_rows(struct block *b) {
    const struct graft_few *o = b->few;
    const int64_t blocks = 1 + (o->columns * o->tokens - 1) / BLOCK_NUMBERS;
    const int64_t most = (o->columns / blocks + PAIRS - 1) / PAIRS * PAIRS;
    vf sums[BLOCK_ROWS][TOKENS];
    for (int64_t r = 0; r < b->at_once * b->times; r++) {
        for (int64_t t = 0; t < o->tokens; t++) {
            sums[r][t] = vf_zero();
        }
    }
    b->sums = sums;
    for (b->k = 0; b->k < o->columns; b->k += most) {
        int64_t left = o->columns - b->k;
        b->columns = left < most ? left : most;
        b->ahead = o->columns <= most ? AHEAD : left > most ? most : b->times * o->columns - b->k;
        run_block(b);
    }
    store_totals(b);
}

/* All `rows` rows, a multiple of `at_once`: one of each of as many parts of the weight, so that memory is read in a few
 * long streams. */
static void run_streams(const struct graft_few *o, int64_t rows, int at_once) {
    const int64_t part = rows / at_once, most = BLOCK_ROWS / at_once;
    for (int64_t r = 0; r < part; r += most) {
        struct block b = {.few = o, .at_once = at_once, .row = r, .part = part};
        b.times = part - r < most ? part - r : most;
        run_rows(&b);
    }
}

/* A row with all tokens, where fewer are left than are multiplied at once. */
static void run_row(const struct graft_few *o, int64_t row) {
    for (int64_t t = 0; t < o->tokens; t++) {
        vf sum = add_pairs(vf_zero(), o->w + row * o->columns, o->x + t * o->x_stride, o->columns);
        o->y[t * o->y_stride + row] = _mm_cvtss_f32(totals(sum, vf_zero(), vf_zero(), vf_zero()));
    }
}

void graft_few_pairs(const struct graft_few *o) {
    const int at_once = o->tokens <= 2 ? 2 : ROWS;
    int64_t r = o->rows / at_once * at_once;
    if (o->tokens == 1) {
        multiply_halves(o, r);
    } else {
        run_streams(o, r, at_once);
    }
    for (; r < o->rows; r++) {
        run_row(o, r);
    }
}
