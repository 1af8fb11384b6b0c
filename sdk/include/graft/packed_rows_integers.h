/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times rows of integer codes as products of integers, for AVX2 and AVX-512: packed_rows.h's `prepared`.
 * Inputs become integers of 16 bits, and one instruction multiplies a vector of them by codes and adds up pairs, where
 * products of f32 take two and have codes converted first. A block of inputs shares what an integer counts for
 * (graft_packed_step): rounding costs less, over all, than rounding to bf16 does. Codes and their scales are exact, and
 * so are the sums of a block. Part of packed_rows_loops.h.
 *
 * Each row has a vector of sums for each token, over blocks in their order: nothing depends on the number of tokens,
 * threads or rows.
 */
#ifndef GRAFT_PACKED_ROWS_INTEGERS_H
#define GRAFT_PACKED_ROWS_INTEGERS_H

#include "packed_rows_factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of codes. */
enum { GRAFT_ROW_KIND_UINT4 = 0, GRAFT_ROW_KIND_UINT8 = 1, GRAFT_ROW_KIND_INT8 = 2 };

/* Bytes of codes that are unpacked together: a vector; the numbers of 16 bits in one; and inputs of a block, where
 * groups have room for it: the sums of so many stay far from overflowing. */
enum {
    GRAFT_ROW_INTEGERS_BYTES = 4 * GRAFT_ROW_LANES,
    GRAFT_ROW_INTEGERS_SHORTS = 2 * GRAFT_ROW_LANES,
    GRAFT_ROW_INTEGERS_BLOCK = 128
};

/* Rows that a token alone, two and four are multiplied by: as many as there are registers for, and of one token no more
 * streams through memory than are read fast. */
enum {
    GRAFT_ROW_INTEGERS_ALONE = 3,
    GRAFT_ROW_INTEGERS_TWO = GRAFT_ROW_LANES == 16 ? 4 : 3,
    GRAFT_ROW_INTEGERS_SHARED = GRAFT_ROW_LANES == 16 ? 3 : 2,
    GRAFT_ROW_INTEGERS_SUMS = GRAFT_ROW_INTEGERS_SHARED * GRAFT_ROW_TOKENS /* the most of a tile */
};

/* Rows that are multiplied side by side, and the inputs as prepared. */
struct graft_row_integers_tile {
    const struct graft_packed_rows *self;  /* whose they are */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first n_rows */
    int64_t part;                          /* outputs from one to the next */
    const int16_t *numbers;                /* [n_tokens, in_features] */
    const float *sums;                     /* [n_tokens, graft_packed_rows_sums]: see graft_row_integers_prepare */
};

GRAFT_ASSERT_SIZE(struct graft_row_integers_tile, 160);

#if defined(__AVX2__)

/* [any] sum - a * b, rounded once: the compiler could as well fuse with what `sum` is a product of. */
GRAFT_ROW_INLINE graft_row_floats graft_row_integers_less(graft_row_floats sum, graft_row_floats a,
                                                          graft_row_floats b) {
#if defined(__AVX512F__)
    return (graft_row_floats)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#else
    return (graft_row_floats)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#endif
}

/* [any] A vector that begins at any byte. By memcpy it might come in halves, which takes long. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_load(const void *from) {
#if defined(__AVX512F__)
    return (graft_row_ints)_mm512_loadu_si512(from);
#else
    return (graft_row_ints)_mm256_loadu_si256((const __m256i *)from);
#endif
}

/* [any] Inputs of a line of codes. */
GRAFT_ROW_INLINE int64_t graft_row_integers_line(const int kind) {
    return kind == GRAFT_ROW_KIND_UINT4 ? 2 * GRAFT_ROW_INTEGERS_BYTES : GRAFT_ROW_INTEGERS_BYTES;
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
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_round(const float *x, const int kind, const int v, float factor) {
    const int step = kind == GRAFT_ROW_KIND_UINT4 ? 4 : 1;
    const float *lower = x + (kind == GRAFT_ROW_KIND_UINT4 ? v : GRAFT_ROW_INTEGERS_SHORTS * v);
    const float *upper = lower + (ptrdiff_t)GRAFT_ROW_LANES * step;
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i from = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step));
    const __m512i a = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_i32gather_ps(from, lower, 4), _mm512_set1_ps(factor)));
    const __m512i b = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_i32gather_ps(from, upper, 4), _mm512_set1_ps(factor)));
    return (graft_row_ints)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtsepi32_epi16(a)),
                                              _mm512_cvtsepi32_epi16(b), 1);
#else
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i from = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(step));
    const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_i32gather_ps(lower, from, 4), _mm256_set1_ps(factor)));
    const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_i32gather_ps(upper, from, 4), _mm256_set1_ps(factor)));
    return (graft_row_ints)_mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
#endif
}

/* [any] graft_packed_rows_prepared.prepare. Numbers come in the order of vectors. Of each block, `sums` has what those
 * of a row begin with: the inputs' sums times the zero point, negative. Where zero points are stored, it has the
 * inputs' sums as f32 instead. Behind all blocks come their steps. */
GRAFT_ROW_INLINE void graft_row_integers_prepare(const struct graft_packed_rows *self, const int kind, const float *x,
                                                 int16_t *numbers, float *sums) {
    const int64_t line = graft_row_integers_line(kind), block = line * graft_row_integers_lines(self, kind);
    const graft_row_ints none = {0}, ones = none + 0x00010001;
    float *steps = sums + self->in_features / 8;
    for (int64_t i = 0; i < self->in_features; sums += GRAFT_ROW_LANES) {
        float step;
        const float factor = graft_packed_factor(x + i, block, &step);
        graft_row_ints sum = none;
        for (const int64_t end = i + block; i < end; i += line) {
            for (int v = 0; v < line / GRAFT_ROW_INTEGERS_SHORTS; v++, numbers += GRAFT_ROW_INTEGERS_SHORTS) {
                const graft_row_ints rounded = graft_row_integers_round(x + i, kind, v, factor);
                memcpy(numbers, &rounded, sizeof rounded);
                sum = graft_packed_dot(sum, rounded, ones);
            }
        }
        *steps++ = step;
        if (self->zeros != NULL) {
            const graft_row_floats inputs = __builtin_convertvector(sum, graft_row_floats) * step;
            memcpy(sums, &inputs, sizeof inputs);
        } else {
            const graft_row_ints begin = sum * -self->zero;
            memcpy(sums, &begin, sizeof begin);
        }
    }
}

/* [any] Vector v of a line of codes: a constant. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_codes(const unsigned char *codes, graft_row_ints line,
                                                         const int kind, const int v) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
    const unsigned char *bytes = codes + (ptrdiff_t)GRAFT_ROW_INTEGERS_SHORTS * v;
    const int is_signed = kind == GRAFT_ROW_KIND_INT8;
    if (kind == GRAFT_ROW_KIND_UINT4) {
        const shorts shifted = (shorts)line >> 4 * v;
        return (graft_row_ints)(v == 3 ? shifted : shifted & 15);
    }
#if defined(__AVX512F__)
    const __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    return (graft_row_ints)(is_signed ? _mm512_cvtepi8_epi16(some) : _mm512_cvtepu8_epi16(some));
#else
    const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    return (graft_row_ints)(is_signed ? _mm256_cvtepi8_epi16(some) : _mm256_cvtepu8_epi16(some));
#endif
}

/* [any] sums [n_rows, n_tokens] += line `at` of a tile. */
GRAFT_ROW_INLINE void graft_row_integers_add(const struct graft_row_integers_tile *tile, const int kind,
                                             const int n_rows, const int n_tokens, int64_t at, const int fetches,
                                             graft_row_ints *sums) {
    const int64_t line = graft_row_integers_line(kind), byte = at * GRAFT_ROW_INTEGERS_BYTES;
    graft_row_ints lines[GRAFT_ROW_MOST];
    for (int r = 0; r < n_rows; r++) {
        lines[r] = graft_row_integers_load(tile->rows[r].codes + byte);
        if (fetches) {
            graft_row_prefetch(tile->rows[r].codes + byte);
        }
    }
    for (int v = 0; v < line / GRAFT_ROW_INTEGERS_SHORTS; v++) {
        graft_row_ints codes[GRAFT_ROW_MOST];
        for (int r = 0; r < n_rows; r++) {
            codes[r] = graft_row_integers_codes(tile->rows[r].codes + byte, lines[r], kind, v);
        }
        for (int t = 0; t < n_tokens; t++) {
            const int64_t token = t * tile->self->in_features;
            graft_row_ints inputs =
                graft_row_integers_load(tile->numbers + token + at * line + (ptrdiff_t)GRAFT_ROW_INTEGERS_SHORTS * v);
            __asm__("" : "+v"(inputs)); /* loaded once: the compiler would load them for each row */
            for (int r = 0; r < n_rows; r++) {
                graft_row_ints *sum = &sums[r * n_tokens + t];
                *sum = graft_packed_dot(*sum, codes[r], inputs);
            }
        }
    }
}

/* [any] totals [n_rows, n_tokens] += block b of a tile, whose first group is number `group` of the factors. Counts are
 * constants. */
GRAFT_ROW_INLINE void graft_row_integers_block(const struct graft_row_integers_tile *tile, const int kind,
                                               const int n_rows, const int n_tokens, const int lines, const int many,
                                               const struct graft_row_factors *factors, int64_t group, int64_t b,
                                               graft_row_floats *totals) {
    static const graft_row_ints none = {0};
    const struct graft_packed_rows *self = tile->self;
    const int64_t stride = graft_packed_rows_sums(self);
    const float *steps = tile->sums + self->in_features / 8 + b, *inputs = tile->sums + b * GRAFT_ROW_LANES;
    graft_row_ints sums[GRAFT_ROW_INTEGERS_SUMS];
    for (int s = 0; s < n_rows * n_tokens; s++) {
        sums[s] = self->zeros != NULL ? none : graft_row_integers_load(inputs + s % n_tokens * stride);
    }
    for (int l = 0; l < lines; l++) {
        graft_row_integers_add(tile, kind, n_rows, n_tokens, b * lines + l,
                               l * GRAFT_ROW_INTEGERS_BYTES % GRAFT_ROW_LINE == 0, sums);
    }
    for (int r = 0; r < n_rows; r++) {
        const graft_row_floats scales = graft_row_spread(&factors->scales[r][group], many);
        for (int t = 0; t < n_tokens; t++) {
            const int s = r * n_tokens + t;
            graft_row_floats sum = __builtin_convertvector(sums[s], graft_row_floats) * steps[t * stride];
            if (self->zeros != NULL) {
                sum = graft_row_integers_less(sum, graft_row_spread(&factors->zeros[r][group], many),
                                              (graft_row_floats)graft_row_integers_load(inputs + t * stride));
            }
            totals[s] += sum * scales;
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
    struct graft_row_factors factors;
    graft_row_floats totals[GRAFT_ROW_INTEGERS_SUMS] = {{0}};
    int64_t b = 0;
    for (int64_t first = 0; first < self->groups; first += GRAFT_ROW_GROUPS) {
        const int64_t n = graft_packed_left(self->groups, first, GRAFT_ROW_GROUPS);
        graft_row_factors_at(self, tile->rows, n_rows, first, n, &factors);
        for (int64_t g = 0; g < n; g += many) {
            for (const int64_t end = b + graft_packed_left(blocks, b, most); b < end; b++) {
                graft_row_integers_block(tile, kind, n_rows, n_tokens, lines, many, &factors, g, b, totals);
            }
        }
    }
    for (int s = 0; s < n_rows * n_tokens; s++) {
        y[s % n_tokens * self->out_features + s / n_tokens * tile->part] = graft_row_sum(totals[s]);
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
            graft_row_integers_rows(self, these, theirs, kind, GRAFT_ROW_INTEGERS_SHARED, 4, lines, many, first, n,
                                    out);
            t += 4;
        } else if (left >= 2) {
            graft_row_integers_rows(self, these, theirs, kind, GRAFT_ROW_INTEGERS_TWO, 2, lines, many, first, n, out);
            t += 2;
        } else {
            graft_row_integers_rows(self, these, theirs, kind, GRAFT_ROW_INTEGERS_ALONE, 1, lines, many, first, n, out);
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
