/* SPDX-License-Identifier: Apache-2.0 */
/* 4-bit codes that stand for 16 arbitrary numbers, the first of two codes in the upper half of their byte. Numbers are
 * looked up and multiplied as f32, which is exact.
 *
 * With AVX-512, few tokens process a vector of words at a time: a look-up uses the lowest bits of each word, so one
 * shift leads from the codes of one position to those of the next. Inputs are arranged in this order. Each lane has its
 * own sum until the end, and belongs to the group of its word. */
#include "kernels/coded/kind.h"

enum { CODES = 8 /* codes in a word */, LINE = GRAFT_ROW_LANES * CODES };

/* The position of code k in a word: in each byte the upper half comes first. */
#define PLACE(k) ((k) ^ 1)

#if defined(__AVX512F__)
GRAFT_ROW_INLINE graft_row_floats look_up(graft_row_words codes, const float *numbers) {
    return (graft_row_floats)_mm512_permutexvar_ps((__m512i)codes, _mm512_loadu_ps(numbers));
}
#elif defined(__AVX2__)
GRAFT_ROW_INLINE graft_row_floats look_up(graft_row_words codes, const float *numbers) {
    const __m256i index = (__m256i)codes;
    const __m256 lower = _mm256_permutevar8x32_ps(_mm256_loadu_ps(numbers), index);
    const __m256 upper = _mm256_permutevar8x32_ps(_mm256_loadu_ps(numbers + 8), index);
    return (graft_row_floats)_mm256_blendv_ps(lower, upper, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}
#endif

GRAFT_ROW_INLINE graft_row_floats unpack(const unsigned char *codes, int64_t input, float zero, const float *numbers) {
    (void)zero;
#if defined(__AVX512F__)
    const graft_row_words shifts = {4, 0, 12, 8, 20, 16, 28, 24, 4, 0, 12, 8, 20, 16, 28, 24};
    uint32_t words[2];
    memcpy(words, codes + input / 2, sizeof words);
    const __m512i halves = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)words[0]), 0xff00, (int)words[1]);
    return look_up((graft_row_words)_mm512_srlv_epi32(halves, (__m512i)shifts), numbers);
#elif defined(__AVX2__)
    const graft_row_words shifts = {4, 0, 12, 8, 20, 16, 28, 24};
    int32_t word;
    memcpy(&word, codes + input / 2, sizeof word);
    return look_up((graft_row_words)_mm256_srlv_epi32(_mm256_set1_epi32(word), (__m256i)shifts), numbers);
#else
    const unsigned char *two = codes + input / 2;
    const graft_row_floats some = {numbers[two[0] >> 4], numbers[two[0] & 15], numbers[two[1] >> 4],
                                   numbers[two[1] & 15]};
    return some;
#endif
}

#if defined(__AVX512F__)

/* Rows that are multiplied together, with prepared inputs. */
struct tile {
    const struct graft_coded *self;
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first `n_rows` of them */
    int64_t part;                          /* distance of the rows, in outputs */
    const float *x;                        /* [n_tokens, columns] */
};

/* Implements `size`. Lines must be whole, and a line has whole groups, or a group whole lines. */
static int64_t size_of(const struct graft_coded *self) {
    const int64_t group = self->group_size;
    const int fits = group % LINE == 0 || group == LINE / 2 || group == LINE / 4;
    const int is_whole = self->columns % LINE == 0 && self->columns % group == 0;
    return self->group_of == NULL && fits && is_whole ? self->columns * (int64_t)sizeof(float) : 0;
}

static void prepare(const struct graft_coded *self, const float *x, float *prepared) {
    for (int64_t i = 0; i < self->columns; i += LINE) {
        for (int k = 0; k < CODES; k++) {
            for (int l = 0; l < GRAFT_ROW_LANES; l++) {
                *prepared++ = x[i + l * CODES + PLACE(k)];
            }
        }
    }
}

/* totals [n_tokens][n_rows] += the products of a line, with the scales of its groups. Counts are compile-time
 * constants. */
GRAFT_ROW_INLINE void add_line(const struct tile *tile, const float *numbers, const int n_rows, const int n_tokens,
                               const int is_near, const int many, int64_t at,
                               float scales[][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING], int64_t group,
                               graft_row_floats totals[][GRAFT_ROW_MOST]) {
    graft_row_floats sums[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    graft_row_words words[GRAFT_ROW_MOST];
    for (int r = 0; r < n_rows; r++) {
        const unsigned char *codes = tile->rows[r].codes + at / 2;
        memcpy(&words[r], codes, sizeof words[r]);
        graft_row_prefetch(codes, is_near);
    }
    for (int k = 0; k < CODES; k++) {
        graft_row_floats weights[GRAFT_ROW_MOST];
        for (int r = 0; r < n_rows; r++) {
            weights[r] = look_up(words[r] >> 4 * k, numbers);
        }
        for (int t = 0; t < n_tokens; t++) {
            const float *x = tile->x + t * tile->self->columns + at + (ptrdiff_t)k * GRAFT_ROW_LANES;
            const graft_row_floats inputs = graft_row_load(x, GRAFT_ROW_LANES);
            for (int r = 0; r < n_rows; r++) {
                sums[t][r] = graft_vector_add_product(sums[t][r], weights[r], inputs);
            }
        }
    }
    for (int r = 0; r < n_rows; r++) {
        const graft_row_floats scale = graft_row_spread(scales[r] + group, many);
        for (int t = 0; t < n_tokens; t++) {
            totals[t][r] = graft_vector_add_product(totals[t][r], sums[t][r], scale);
        }
    }
}

/* Computes y of a tile with `many` groups in a line, or one group over one or more lines. */
GRAFT_ROW_INLINE void multiply(const struct tile *tile, const float *numbers, const int n_rows, const int n_tokens,
                               const int is_near, const int many, float *y) {
    const struct graft_coded *self = tile->self;
    graft_row_floats totals[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    struct graft_row_factors factors;
    for (int64_t first = 0; first < self->groups; first += GRAFT_ROW_GROUPS) {
        const int64_t n = graft_coded_left(self->groups, first, GRAFT_ROW_GROUPS);
        const int64_t begin = first * self->group_size, end = begin + n * self->group_size;
        graft_row_factors_at(self, tile->rows, n_rows, first, n, &factors);
        for (int64_t at = begin; at < end; at += LINE) {
            add_line(tile, numbers, n_rows, n_tokens, is_near, many, at, factors.scales,
                     (at - begin) / self->group_size, totals);
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int r = 0; r < n_rows; r++) {
            y[t * self->y_stride + r * tile->part] = graft_row_sum(totals[t][r]);
        }
    }
}

/* Like the function above, with a constant number of groups. */
GRAFT_ROW_INLINE void multiply_tile(const struct tile *tile, const float *numbers, const int n_rows, const int n_tokens,
                                    const int is_near, float *y) {
    const int64_t group = tile->self->group_size;
    if (group >= LINE) {
        multiply(tile, numbers, n_rows, n_tokens, is_near, 1, y);
    } else if (group == LINE / 2) {
        multiply(tile, numbers, n_rows, n_tokens, is_near, 2, y);
    } else {
        multiply(tile, numbers, n_rows, n_tokens, is_near, 4, y);
    }
}

/* Computes y of n rows: tiles, then the remaining rows one by one. */
GRAFT_ROW_INLINE void multiply_rows(const struct graft_coded *self, const float *numbers, const int n_rows,
                                    const int n_tokens, const int is_near, int64_t first, int64_t n, const float *x,
                                    float *y) {
    struct tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.x = x;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        multiply_tile(&tile, numbers, n_rows, n_tokens, is_near, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        multiply_tile(&tile, numbers, 1, n_tokens, is_near, y + at);
    }
}

GRAFT_ROW_INLINE void multiply_all(const struct graft_coded *self, const float *numbers, const int is_near,
                                   int64_t first, int64_t n, const float *x, int64_t tokens, float *y) {
    const int64_t in = self->columns, out = self->y_stride;
    int64_t t = 0;
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        multiply_rows(self, numbers, GRAFT_ROW_SHARED, GRAFT_ROW_TOKENS, is_near, first, n, x + t * in, y + t * out);
    }
    for (; t < tokens; t++) {
        multiply_rows(self, numbers, GRAFT_ROW_MOST, 1, is_near, first, n, x + t * in, y + t * out);
    }
}

GRAFT_ROW_INLINE void multiply_prepared(const struct graft_coded *self, const float *numbers, int64_t first, int64_t n,
                                        const float *x, int64_t tokens, float *y) {
    if (graft_row_is_near()) {
        multiply_all(self, numbers, 1, first, n, x, tokens, y);
    } else {
        multiply_all(self, numbers, 0, first, n, x, tokens, y);
    }
}

GRAFT_ROW_PREPARED_AS(table4_prepared, size_of(self), prepare(self, x, (float *)inputs),
                      multiply_prepared(self, self->table, first, n, (const float *)inputs, tokens, y))

#else
GRAFT_CODED_UNPREPARED(table4_prepared)
#endif

GRAFT_ROW_FUNCTIONS(table4, unpack)
GRAFT_CODED_UNPREPARED(table4_many)
GRAFT_CODED_UNPREPARED(table4_bytes)
LOOPS_TABLE(table4, 0)
