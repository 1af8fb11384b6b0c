/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times rows of integer codes as products of integers, for AVX2: packed_rows.h's `prepared`. Inputs become
 * integers of 16 bits, and one instruction multiplies 16 of them by codes and adds up pairs, where products of f32 take
 * two for 8 and have codes converted first. A block of inputs shares what an integer counts for (graft_packed_step):
 * rounding costs less, over all, than rounding to bf16 does. Codes and their scales are exact, and so are the sums of a
 * block. Part of packed_rows_loops.h.
 *
 * Each row has a vector of sums for each token, over blocks in their order: nothing depends on the number of tokens,
 * threads or rows.
 */
#ifndef GRAFT_PACKED_ROWS_INTEGERS_H
#define GRAFT_PACKED_ROWS_INTEGERS_H

#include "packed_rows_loops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of codes. */
enum { GRAFT_ROW_KIND_UINT4 = 0, GRAFT_ROW_KIND_UINT8 = 1, GRAFT_ROW_KIND_INT8 = 2 };

/* Bytes of codes that are unpacked together; and inputs of a block, where groups have room for it: the sums of so many
 * stay far from overflowing. */
enum { GRAFT_ROW_INTEGERS_BYTES = 32, GRAFT_ROW_INTEGERS_BLOCK = 128 };

/* Lanes of a vector of sums, and groups that have their scales widened at once. */
enum { GRAFT_ROW_INTEGERS_LANES = 8, GRAFT_ROW_INTEGERS_GROUPS = 64 };

/* Rows that are multiplied side by side, and the inputs as prepared. */
struct graft_row_integers_tile {
    const struct graft_packed_rows *self;  /* whose they are */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first n_rows */
    int64_t part;                          /* outputs from one to the next */
    const int16_t *numbers;                /* [n_tokens, in_features] */
    const float *sums;                     /* [n_tokens, graft_packed_rows_sums]: see graft_row_integers_prepare */
};

GRAFT_ASSERT_SIZE(struct graft_row_integers_tile, 160);

#if defined(__AVX2__) && !defined(__AVX512F__)

/* [any] Inputs of a line of codes. */
GRAFT_ROW_INLINE int64_t graft_row_integers_line(const int kind) {
    return kind == GRAFT_ROW_KIND_UINT4 ? 64 : 32;
}

/* [any] Whether whole blocks make a group. */
GRAFT_ROW_INLINE int graft_row_integers_whole(const struct graft_packed_rows *self) {
    return self->group_size % GRAFT_ROW_INTEGERS_BLOCK == 0 && self->in_features % GRAFT_ROW_INTEGERS_BLOCK == 0;
}

/* [any] Lines of a block: those of whole ones or, of 4 bits, a single line, which may have several groups. */
GRAFT_ROW_INLINE int64_t graft_row_integers_lines(const struct graft_packed_rows *self, const int kind) {
    return graft_row_integers_whole(self) ? GRAFT_ROW_INTEGERS_BLOCK / graft_row_integers_line(kind) : 1;
}

/* [any] graft_packed_rows_prepared.fits. */
GRAFT_ROW_INLINE int32_t graft_row_integers_fits(const struct graft_packed_rows *self, const int kind) {
    const int64_t line = graft_row_integers_line(kind), size = self->group_size;
    const int lines = self->in_features % line == 0 && (size % line == 0 || size == line / 2 || size == line / 4);
    return self->group_of == NULL && (graft_row_integers_whole(self) || (kind == GRAFT_ROW_KIND_UINT4 && lines));
}

/* [any] Vector v of a line of inputs, times `factor`: those that have their codes in lanes of 16 bits. */
GRAFT_ROW_INLINE __m256i graft_row_integers_round(const float *x, const int kind, const int v, __m256 factor) {
    const int step = kind == GRAFT_ROW_KIND_UINT4 ? 4 : 1, first = kind == GRAFT_ROW_KIND_UINT4 ? v : 16 * v;
    const __m256i lanes = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(step));
    const __m256 lower = _mm256_i32gather_ps(x + first, lanes, 4);
    const __m256 upper = _mm256_i32gather_ps(x + first + (ptrdiff_t)8 * step, lanes, 4);
    const __m256i both = _mm256_packs_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(lower, factor)),
                                            _mm256_cvtps_epi32(_mm256_mul_ps(upper, factor)));
    return _mm256_permute4x64_epi64(both, 0xd8);
}

/* [any] graft_packed_rows_prepared.prepare. Numbers come in the order of vectors. Of each block, `sums` has what those
 * of a row begin with: the inputs' sums times the zero point, negative. Where zero points are stored, it has the
 * inputs' sums as f32 instead. Behind all blocks come their steps. */
GRAFT_ROW_INLINE void graft_row_integers_prepare(const struct graft_packed_rows *self, const int kind, const float *x,
                                                 int16_t *numbers, float *sums) {
    const int64_t line = graft_row_integers_line(kind), block = line * graft_row_integers_lines(self, kind);
    float *steps = sums + self->in_features / 8;
    for (int64_t i = 0; i < self->in_features; sums += GRAFT_ROW_INTEGERS_LANES) {
        float step;
        const float factor = graft_packed_factor(x + i, block, &step);
        __m256i sum = _mm256_setzero_si256();
        for (const int64_t end = i + block; i < end; i += line) {
            for (int v = 0; v < line / 16; v++, numbers += 16) {
                const __m256i rounded = graft_row_integers_round(x + i, kind, v, _mm256_set1_ps(factor));
                _mm256_storeu_si256((__m256i *)(void *)numbers, rounded);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(rounded, _mm256_set1_epi16(1)));
            }
        }
        *steps++ = step;
        if (self->zeros != NULL) {
            _mm256_storeu_ps(sums, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(step)));
        } else {
            const __m256i begin = _mm256_mullo_epi32(sum, _mm256_set1_epi32(-self->zero));
            _mm256_storeu_si256((__m256i *)(void *)sums, begin);
        }
    }
}

/* [any] Vector v of a line of codes: a constant. */
GRAFT_ROW_INLINE __m256i graft_row_integers_codes(const unsigned char *codes, __m256i line, const int kind,
                                                  const int v) {
    if (kind == GRAFT_ROW_KIND_UINT4) {
        const __m256i lowest = v == 0 ? line : _mm256_srli_epi16(line, 4 * v);
        return v == 3 ? lowest : _mm256_and_si256(lowest, _mm256_set1_epi16(15));
    }
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(codes + (ptrdiff_t)16 * v));
    return kind == GRAFT_ROW_KIND_INT8 ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

/* [any] sums [n_rows, n_tokens] += line `at` of a tile. */
GRAFT_ROW_INLINE void graft_row_integers_add(const struct graft_row_integers_tile *tile, const int kind,
                                             const int n_rows, const int n_tokens, int64_t at, const int fetches,
                                             __m256i *sums) {
    const int64_t line = graft_row_integers_line(kind), byte = at * GRAFT_ROW_INTEGERS_BYTES;
    __m256i lines[GRAFT_ROW_MOST];
    for (int r = 0; r < n_rows; r++) {
        lines[r] = _mm256_loadu_si256((const __m256i *)(const void *)(tile->rows[r].codes + byte));
        if (fetches) {
            graft_row_prefetch(tile->rows[r].codes + byte);
        }
    }
    for (int v = 0; v < line / 16; v++) {
        __m256i codes[GRAFT_ROW_MOST];
        for (int r = 0; r < n_rows; r++) {
            codes[r] = graft_row_integers_codes(tile->rows[r].codes + byte, lines[r], kind, v);
        }
        for (int t = 0; t < n_tokens; t++) {
            const int16_t *numbers = tile->numbers + t * tile->self->in_features + at * line + (ptrdiff_t)16 * v;
            __m256i inputs = _mm256_loadu_si256((const __m256i *)(const void *)numbers);
            __asm__("" : "+x"(inputs)); /* loaded once: the compiler would load them for each row */
            for (int r = 0; r < n_rows; r++) {
                __m256i *sum = &sums[r * n_tokens + t];
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(codes[r], inputs));
                __asm__("" : "+x"(*sum)); /* added now: it would add products to each other first, and keep many */
            }
        }
    }
}

/* [any] The numbers of a unit's groups, 1, 2 or 4, each in as many lanes. */
GRAFT_ROW_INLINE __m256 graft_row_integers_spread(const float *numbers, const int many) {
    const __m256i two = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), four = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    double both;
    if (many == 1) {
        return _mm256_set1_ps(*numbers);
    }
    if (many == 4) {
        return _mm256_permutevar_ps(_mm256_broadcast_ps((const __m128 *)(const void *)numbers), four);
    }
    memcpy(&both, numbers, sizeof both);
    return _mm256_permutevar_ps(_mm256_castpd_ps(_mm256_set1_pd(both)), two);
}

/* [any] out [n] = the scales of a row's groups from `group` on. */
GRAFT_ROW_INLINE void graft_row_integers_scales(const struct graft_row *row, int64_t group, int64_t n, float *out) {
    const uint16_t *halves = (const uint16_t *)row->scales->data + row->scale + group;
    int64_t g = 0;
    for (; row->scales->dtype != GRAFT_DTYPE_F32 && g + GRAFT_ROW_INTEGERS_LANES <= n; g += GRAFT_ROW_INTEGERS_LANES) {
        const __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(halves + g));
        const __m256i words = _mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16);
        _mm256_storeu_ps(out + g,
                         row->scales->dtype == GRAFT_DTYPE_F16 ? _mm256_cvtph_ps(eight) : _mm256_castsi256_ps(words));
    }
    for (; g < n; g++) {
        out[g] = graft_row_scale(row, group + g);
    }
}

/* [any] totals [n_rows, n_tokens] += block b of a tile, the groups of which have these scales. Counts are constants. */
GRAFT_ROW_INLINE void graft_row_integers_block(const struct graft_row_integers_tile *tile, const int kind,
                                               const int n_rows, const int n_tokens, const int lines, int64_t b,
                                               const __m256 *scales, __m256 *totals) {
    static const int32_t none[GRAFT_ROW_INTEGERS_LANES] = {0};
    const struct graft_packed_rows *self = tile->self;
    const int64_t stride = graft_packed_rows_sums(self);
    const float *factor = tile->sums + self->in_features / 8 + b;
    __m256i sums[2 * GRAFT_ROW_TOKENS];
    for (int s = 0; s < n_rows * n_tokens; s++) {
        const void *begin = tile->sums + s % n_tokens * stride + b * GRAFT_ROW_INTEGERS_LANES;
        sums[s] = _mm256_loadu_si256((const __m256i *)(self->zeros != NULL ? none : begin));
    }
    for (int l = 0; l < lines; l++) {
        graft_row_integers_add(tile, kind, n_rows, n_tokens, b * lines + l,
                               l * GRAFT_ROW_INTEGERS_BYTES % GRAFT_ROW_LINE == 0, sums);
    }
    for (int s = 0; s < n_rows * n_tokens; s++) {
        const __m256 scale = _mm256_mul_ps(scales[s / n_tokens], _mm256_set1_ps(factor[s % n_tokens * stride]));
        totals[s] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[s]), scale, totals[s]);
    }
}

/* [any] totals [n_rows, n_tokens] -= zero points times inputs, where they are stored; block by block. */
GRAFT_ROW_INLINE void graft_row_integers_zeros(const struct graft_row_integers_tile *tile, const int n_rows,
                                               const int n_tokens, int64_t blocks, int64_t most, const int many,
                                               __m256 *totals) {
    const struct graft_packed_rows *self = tile->self;
    for (int64_t b = 0; b < blocks; b++) {
        for (int r = 0; r < n_rows; r++) {
            float products[4];
            for (int g = 0; g < many; g++) {
                const int64_t group = b / most * many + g;
                products[g] = graft_row_scale(&tile->rows[r], group) * graft_row_zero(self, &tile->rows[r], group);
            }
            const __m256 product = graft_row_integers_spread(products, many);
            for (int t = 0; t < n_tokens; t++) {
                const float *inputs = tile->sums + t * graft_packed_rows_sums(self) + b * GRAFT_ROW_INTEGERS_LANES;
                __m256 *total = &totals[r * n_tokens + t];
                *total = _mm256_fnmadd_ps(product, _mm256_loadu_ps(inputs), *total);
            }
        }
    }
}

/* [any] y of a tile; `many` groups are in a line, or a group has whole blocks. */
GRAFT_ROW_INLINE void graft_row_integers_multiply(const struct graft_row_integers_tile *tile, const int kind,
                                                  const int n_rows, const int n_tokens, const int lines, const int many,
                                                  float *y) {
    const struct graft_packed_rows *self = tile->self;
    const int64_t block = graft_row_integers_line(kind) * lines, blocks = self->in_features / block;
    const int64_t most = many == 1 ? self->group_size / block : 1;
    float scales[GRAFT_ROW_MOST][GRAFT_ROW_INTEGERS_GROUPS];
    __m256 totals[2 * GRAFT_ROW_TOKENS] = {{0}};
    int64_t b = 0;
    for (int64_t first = 0; first < self->groups; first += GRAFT_ROW_INTEGERS_GROUPS) {
        const int64_t n = graft_packed_left(self->groups, first, GRAFT_ROW_INTEGERS_GROUPS);
        for (int r = 0; r < n_rows; r++) {
            graft_row_integers_scales(&tile->rows[r], first, n, scales[r]);
        }
        for (int64_t g = 0; g < n; g += many) {
            __m256 these[GRAFT_ROW_MOST];
            for (int r = 0; r < n_rows; r++) {
                these[r] = graft_row_integers_spread(&scales[r][g], many);
            }
            for (const int64_t end = b + graft_packed_left(blocks, b, most); b < end; b++) {
                graft_row_integers_block(tile, kind, n_rows, n_tokens, lines, b, these, totals);
            }
        }
    }
    if (self->zeros != NULL) {
        graft_row_integers_zeros(tile, n_rows, n_tokens, blocks, most, many, totals);
    }
    for (int s = 0; s < n_rows * n_tokens; s++) {
        y[s % n_tokens * self->out_features + s / n_tokens * tile->part] = graft_row_sum((graft_row_floats)totals[s]);
    }
}

/* [any] y of n rows and `n_tokens` tokens: tiles of `n_rows`, then what is left one by one. */
GRAFT_ROW_INLINE void graft_row_integers_rows(const struct graft_packed_rows *self, const int16_t *numbers,
                                              const float *sums, const int kind, const int n_rows, const int n_tokens,
                                              const int lines, const int many, int64_t first, int64_t n, float *y) {
    struct graft_row_integers_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.numbers = numbers;
    tile.sums = sums;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_integers_multiply(&tile, kind, n_rows, n_tokens, lines, many, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_integers_multiply(&tile, kind, 1, n_tokens, lines, many, y + at);
    }
}

/* [any] Any number of tokens: as many rows with each as there are registers for. */
GRAFT_ROW_INLINE void graft_row_integers_tokens(const struct graft_packed_rows *self, const int16_t *numbers,
                                                const float *sums, int64_t tokens, const int kind, const int lines,
                                                const int many, int64_t first, int64_t n, float *y) {
    const int64_t in = self->in_features;
    for (int64_t t = 0; t < tokens;) {
        const int64_t left = tokens - t;
        const int16_t *these = numbers + t * in;
        const float *theirs = sums + t * graft_packed_rows_sums(self);
        float *out = y + t * self->out_features;
        if (left >= 4) {
            graft_row_integers_rows(self, these, theirs, kind, 2, 4, lines, many, first, n, out);
            t += 4;
        } else if (left >= 2) {
            graft_row_integers_rows(self, these, theirs, kind, 3, 2, lines, many, first, n, out);
            t += 2;
        } else {
            graft_row_integers_rows(self, these, theirs, kind, 3, 1, lines, many, first, n, out);
            t += 1;
        }
    }
}

/* [any] graft_packed_rows_prepared.multiply. */
GRAFT_ROW_INLINE void graft_row_integers_all(const struct graft_packed_rows *self, const int kind, int64_t first,
                                             int64_t n, const int16_t *numbers, const float *sums, int64_t tokens,
                                             float *y) {
    const int64_t line = graft_row_integers_line(kind);
    const int most = (int)(GRAFT_ROW_INTEGERS_BLOCK / graft_row_integers_line(kind));
    if (kind == GRAFT_ROW_KIND_UINT4 && self->group_size == line / 4) {
        graft_row_integers_tokens(self, numbers, sums, tokens, kind, 1, 4, first, n, y);
    } else if (kind == GRAFT_ROW_KIND_UINT4 && self->group_size == line / 2) {
        graft_row_integers_tokens(self, numbers, sums, tokens, kind, 1, 2, first, n, y);
    } else if (kind == GRAFT_ROW_KIND_UINT4 && !graft_row_integers_whole(self)) {
        graft_row_integers_tokens(self, numbers, sums, tokens, kind, 1, 1, first, n, y);
    } else {
        graft_row_integers_tokens(self, numbers, sums, tokens, kind, most, 1, first, n, y);
    }
}

/* Defines format##_prepared for a kind of codes. */
#define GRAFT_ROW_INTEGERS(format, kind) GRAFT_ROW_PREPARED_AS(format, graft_row_integers, kind, int16_t)

#endif

#ifdef __cplusplus
}
#endif

#endif
