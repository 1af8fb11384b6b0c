/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times rows of codes as products of bf16, for processors that have those (AVX512_BF16, VBMI):
 * packed_rows.h's `prepared`. Codes become bf16, which holds them exactly, in two or three operations for 32 of them;
 * inputs are rounded and lie in the order that this gives. Part of packed_rows_loops.h.
 *
 * Lanes have sums of their own until the end, over groups and the inputs in each, in their order: nothing depends on
 * the number of tokens, threads or rows.
 */
#ifndef GRAFT_PACKED_ROWS_ROUNDED_H
#define GRAFT_PACKED_ROWS_ROUNDED_H

#include "packed_rows_loops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Codes are done a cache line at a time. */
enum { GRAFT_ROW_PAIRS = 32 /* inputs of a vector */ };

/* Rows of codes of 4 bits that a token alone is multiplied by, since fewer streams through memory are read faster; and
 * several tokens, whose sums leave no registers for more. Of 8 bits there are GRAFT_ROW_MOST and GRAFT_ROW_SHARED. */
enum { GRAFT_ROW_UINT4_MOST = 3, GRAFT_ROW_UINT4_SHARED = 2 };

/* Groups that have their scales and zero points widened at once; what is read behind the last; and how many bytes ahead
 * they are fetched. */
enum { GRAFT_ROW_GROUPS = 64, GRAFT_ROW_BEHIND = 4, GRAFT_ROW_SCALES_AHEAD = 256 };

/* [any] A line of codes: vectors of bf16. `of` are the numbers of codes of 4 bits, twice. */
typedef void (*graft_row_decode)(const unsigned char *codes, graft_row_ints of, graft_row_ints numbers[]);

/* What a kind of codes defines. Input l * lane + l / 4 * quarter + v * vector of a line is in the lower half of lane l
 * of vector v, and the one `upper` behind it in the upper half. */
struct graft_row_rounding {
    graft_row_decode decode; /* as above */
    int32_t vectors;         /* of a line */
    int32_t bits;            /* of a code */
    int32_t lane;            /* inputs from one lane to the next */
    int32_t quarter;         /* inputs added for each four lanes */
    int32_t vector;          /* inputs from one vector to the next */
    int32_t upper;           /* inputs from the lower half to the upper */
};

/* Rows and tokens that are multiplied side by side, and the inputs as prepared. */
struct graft_row_rounded_tile {
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first n_rows */
    int64_t part;                          /* outputs from one to the next */
    const uint32_t *numbers;               /* [n_tokens, in_features / 2] */
    const float *sums;                     /* [n_tokens, graft_packed_rows_sums], of which units have their lanes */
    uint16_t of[GRAFT_ROW_PAIRS];          /* bf16 numbers of codes of 4 bits, twice */
};

/* Scales and zero points of some groups of a tile's rows. */
struct graft_row_factors {
    float scales[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND]; /* of each row */
    float zeros[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND];  /* likewise, where they are stored */
};

GRAFT_ASSERT_SIZE(struct graft_row_rounding, 32);
GRAFT_ASSERT_SIZE(struct graft_row_rounded_tile, 216);
GRAFT_ASSERT_SIZE(struct graft_row_factors, 2176);

#if defined(__AVX512BF16__)

/* [any] Words of eight codes of 4 bits. Of the five bits that choose a number, the upper one is the next code's, and
 * makes no difference. */
GRAFT_ROW_INLINE void graft_row_decode_uint4(const unsigned char *codes, graft_row_ints of, graft_row_ints numbers[]) {
    __m512i words = _mm512_loadu_si512(codes);
    __asm__("" : "+v"(words)); /* loaded once: the compiler would load it for each */
    for (int k = 0; k < 4; k++) {
        numbers[k] = (graft_row_ints)_mm512_permutexvar_epi16(_mm512_srli_epi32(words, 4 * (unsigned)k), (__m512i)of);
    }
}

/* [any] Their numbers, less the zero point if all groups share one: integers, which bf16 holds. */
GRAFT_ROW_INLINE void graft_row_uint4_numbers(const struct graft_packed_rows *self, uint16_t of[GRAFT_ROW_PAIRS]) {
    for (int32_t c = 0; c < GRAFT_ROW_PAIRS; c++) {
        of[c] = graft_bf16_from_f32((float)(c % 16 - (self->zeros == NULL ? self->zero : 0)));
    }
}

/* [any] F8_E4M3: both bytes of a bf16 are looked up; it has the sign, the exponent less 7 plus 127, and all digits. The
 * first eight are the numbers below 2^-6, the last is NaN. */
GRAFT_ROW_INLINE void graft_row_decode_float8(const unsigned char *codes, graft_row_ints of, graft_row_ints numbers[]) {
    (void)of;
#define GRAFT_ROW_SIXTEEN(b) b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b
#define GRAFT_ROW_DIGITS 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0
    static const unsigned char upper_bytes[128] = {0x00,
                                                   0x3b,
                                                   0x3b,
                                                   0x3b,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   GRAFT_ROW_SIXTEEN(0x3d),
                                                   GRAFT_ROW_SIXTEEN(0x3e),
                                                   GRAFT_ROW_SIXTEEN(0x3f),
                                                   GRAFT_ROW_SIXTEEN(0x40),
                                                   GRAFT_ROW_SIXTEEN(0x41),
                                                   GRAFT_ROW_SIXTEEN(0x42),
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x7f};
    static const unsigned char lower_bytes[128] = {0x00,
                                                   0x00,
                                                   0x80,
                                                   0xc0,
                                                   0x00,
                                                   0x20,
                                                   0x40,
                                                   0x60,
                                                   0x80,
                                                   0x90,
                                                   0xa0,
                                                   0xb0,
                                                   0xc0,
                                                   0xd0,
                                                   0xe0,
                                                   0xf0,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS};
#undef GRAFT_ROW_SIXTEEN
#undef GRAFT_ROW_DIGITS
    const __m512i line = _mm512_loadu_si512(codes), sign = _mm512_set1_epi8((char)0x80);
    const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(upper_bytes), line,
                                                   _mm512_loadu_si512(upper_bytes + GRAFT_ROW_LINE));
    const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(lower_bytes), line,
                                                   _mm512_loadu_si512(lower_bytes + GRAFT_ROW_LINE));
    const __m512i signed_upper = _mm512_or_si512(upper, _mm512_and_si512(line, sign));
    numbers[0] = (graft_row_ints)_mm512_unpacklo_epi8(lower, signed_upper);
    numbers[1] = (graft_row_ints)_mm512_unpackhi_epi8(lower, signed_upper);
}

/* Input 8 l + k + 4 h of a line is in half h of lane l of vector k, as in the words. */
#define GRAFT_ROW_ROUNDED_UINT4 \
    { graft_row_decode_uint4, 4, 4, 8, 0, 1, 4 }

/* Interleaving bytes goes by quarters of a register: 8 bytes of each for one vector, 8 for the other. */
#define GRAFT_ROW_ROUNDED_FLOAT8 \
    { graft_row_decode_float8, 2, 8, 2, 8, 8, 1 }

/* [any] Inputs that have their sums scaled together: a group, or the groups that a line has. */
GRAFT_ROW_INLINE int64_t graft_row_unit(const struct graft_packed_rows *self, const int64_t line) {
    return self->group_size < line ? line : self->group_size;
}

/* [any] Where the halves of lanes of a vector come from, in a line of inputs. */
GRAFT_ROW_INLINE __m512i graft_row_order(const struct graft_row_rounding *format, int v, int h) {
    int32_t inputs[GRAFT_ROW_LANES];
    for (int l = 0; l < GRAFT_ROW_LANES; l++) {
        inputs[l] = l * format->lane + l / 4 * format->quarter + v * format->vector + h * format->upper;
    }
    return _mm512_loadu_si512(inputs);
}

/* [any] graft_packed_rows_prepared.fits. */
GRAFT_ROW_INLINE int32_t graft_row_rounded_fits(const struct graft_packed_rows *self,
                                                const struct graft_row_rounding *format) {
    const int64_t line = (int64_t)format->vectors * GRAFT_ROW_PAIRS;
    const int shares = format->bits == 4 && (self->group_size == line / 4 || self->group_size == line / 2);
    return self->group_of == NULL && self->in_features % line == 0 && (self->group_size % line == 0 || shares);
}

/* [any] graft_packed_rows_prepared.prepare. */
GRAFT_ROW_INLINE void graft_row_rounded_prepare(const struct graft_packed_rows *self,
                                                const struct graft_row_rounding *format, const float *x,
                                                uint32_t *numbers, float *sums) {
    const int64_t line = (int64_t)format->vectors * GRAFT_ROW_PAIRS, unit = graft_row_unit(self, line);
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    for (int64_t i = 0; i < self->in_features; sums += GRAFT_ROW_LANES) {
        const int64_t end = i + graft_packed_left(self->in_features, i, unit);
        __m512 sum = _mm512_setzero_ps();
        for (; i < end; i += line) {
            for (int v = 0; v < format->vectors; v++, numbers += GRAFT_ROW_LANES) {
                __m512i halves[2];
                for (int h = 0; h < 2; h++) {
                    const __m512 inputs = _mm512_i32gather_ps(graft_row_order(format, v, h), x + i, 4);
                    halves[h] = _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(inputs)), 16);
                    sum = _mm512_add_ps(sum, _mm512_castsi512_ps(halves[h]));
                }
                _mm512_storeu_si512(
                    numbers, _mm512_or_si512(_mm512_srli_epi32(halves[0], 16), _mm512_and_si512(halves[1], upper)));
            }
        }
        if (self->zeros != NULL) {
            _mm512_storeu_ps(sums, sum);
        }
    }
}

/* [any] The first n scales at `scales`, n at most the number of lanes; then zeros. */
GRAFT_ROW_INLINE __m512 graft_row_some_scales(graft_dtype dtype, const void *scales, int64_t n) {
    const __mmask16 some = (__mmask16)((1u << n) - 1);
    if (dtype == GRAFT_DTYPE_F32) {
        return _mm512_maskz_loadu_ps(some, scales);
    }
    const __m256i halves = _mm256_maskz_loadu_epi16(some, scales);
    return dtype == GRAFT_DTYPE_F16 ? _mm512_cvtph_ps(halves)
                                    : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/* [any] out [n] = the scales of a row's groups from `group` on; `out` has room for whole vectors. Those of rows below
 * are fetched: nothing else would be done while they come. */
GRAFT_ROW_INLINE void graft_row_scales(const struct graft_row *row, int64_t group, int64_t n, float *out) {
    const graft_dtype dtype = row->scales->dtype;
    const int64_t size = dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    const char *scales = (const char *)row->scales->data + (row->scale + group) * size;
    for (int64_t i = 0; i < n; i += GRAFT_ROW_LANES) {
        _mm512_storeu_ps(out + i,
                         graft_row_some_scales(dtype, scales + i * size, graft_packed_left(n, i, GRAFT_ROW_LANES)));
        __builtin_prefetch((const void *)((uintptr_t)(scales + i * size) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
}

/* [any] Likewise their zero points, which have 4 bits. */
GRAFT_ROW_INLINE void graft_row_zeros(const struct graft_packed_rows *self, const struct graft_row *row, int64_t group,
                                      int64_t n, float *out) {
    const int32_t *words = self->zeros + row->output / 8 * self->groups + group;
    const __m128i shift = _mm_cvtsi64_si128(row->output % 8 * 4);
    for (int64_t i = 0; i < n; i += GRAFT_ROW_LANES) {
        const __mmask16 some = (__mmask16)((1u << graft_packed_left(n, i, GRAFT_ROW_LANES)) - 1);
        const __m512i codes = _mm512_srl_epi32(_mm512_maskz_loadu_epi32(some, words + i), shift);
        _mm512_storeu_ps(out + i, _mm512_cvtepi32_ps(_mm512_and_si512(codes, _mm512_set1_epi32(15))));
        __builtin_prefetch((const void *)((uintptr_t)(words + i) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
}

/* [any] The first `many` numbers, 1, 2 or 4, each in as many lanes; four can be read. */
GRAFT_ROW_INLINE __m512 graft_row_spread(const float *numbers, const int many) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return many == 1 ? _mm512_set1_ps(*numbers)
                     : _mm512_permutexvar_ps(_mm512_srli_epi32(lanes, many == 2 ? 3 : 2),
                                             _mm512_castps128_ps512(_mm_loadu_ps(numbers)));
}

/* [any] sums [n_tokens][n_rows] += line `at` of a tile. */
GRAFT_ROW_INLINE void graft_row_rounded_line(const struct graft_packed_rows *self,
                                             const struct graft_row_rounding *format,
                                             const struct graft_row_rounded_tile *tile, graft_row_ints of,
                                             const int n_rows, const int n_tokens, int64_t at,
                                             __m512 sums[][GRAFT_ROW_MOST]) {
    const int vectors = format->vectors;
    for (int r = 0; r < n_rows; r++) {
        const unsigned char *codes = tile->rows[r].codes + at * GRAFT_ROW_LINE;
        graft_row_ints numbers[4];
        graft_row_prefetch(codes);
        format->decode(codes, of, numbers);
        for (int t = 0; t < n_tokens; t++) {
            const uint32_t *inputs = tile->numbers + t * (self->in_features / 2) + at * vectors * GRAFT_ROW_LANES;
            for (int v = 0; v < vectors; v++) {
                sums[t][r] = _mm512_dpbf16_ps(sums[t][r], (__m512bh)numbers[v],
                                              (__m512bh)_mm512_loadu_si512(inputs + v * GRAFT_ROW_LANES));
            }
        }
    }
}

/* [any] Fills them in for groups [group, group + n). */
GRAFT_ROW_INLINE void graft_row_factors_at(const struct graft_packed_rows *self,
                                           const struct graft_row_rounded_tile *tile, const int n_rows, int64_t group,
                                           int64_t n, struct graft_row_factors *factors) {
    for (int r = 0; r < n_rows; r++) {
        graft_row_scales(&tile->rows[r], group, n, factors->scales[r]);
        if (self->zeros != NULL) {
            graft_row_zeros(self, &tile->rows[r], group, n, factors->zeros[r]);
        }
    }
}

/* [any] totals [n_tokens][n_rows] += unit `u` of a tile, lines [at, end). Its first group is number `group` of the
 * factors. */
GRAFT_ROW_INLINE void graft_row_rounded_unit(const struct graft_packed_rows *self,
                                             const struct graft_row_rounding *format,
                                             const struct graft_row_rounded_tile *tile,
                                             const struct graft_row_factors *factors, graft_row_ints of,
                                             const int n_rows, const int n_tokens, const int many, int64_t u,
                                             int64_t at, int64_t end, int64_t group, __m512 totals[][GRAFT_ROW_MOST]) {
    __m512 sums[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    for (; at < end; at++) {
        graft_row_rounded_line(self, format, tile, of, n_rows, n_tokens, at, sums);
    }
    for (int r = 0; r < n_rows; r++) {
        const __m512 scales = graft_row_spread(&factors->scales[r][group], many);
        for (int t = 0; t < n_tokens; t++) {
            if (self->zeros != NULL) {
                const float *inputs = tile->sums + t * graft_packed_rows_sums(self) + u * GRAFT_ROW_LANES;
                const __m512 zeros = graft_row_spread(&factors->zeros[r][group], many);
                sums[t][r] = _mm512_fnmadd_ps(zeros, _mm512_loadu_ps(inputs), sums[t][r]);
            }
            totals[t][r] = _mm512_fmadd_ps(sums[t][r], scales, totals[t][r]);
        }
    }
}

/* [any] y of a tile; `many` groups are in a unit, and `lines` lines; 0: as the group size says. Counts are constants.
 */
GRAFT_ROW_INLINE void graft_row_rounded_multiply(const struct graft_packed_rows *self,
                                                 const struct graft_row_rounding *format,
                                                 const struct graft_row_rounded_tile *tile, const int n_rows,
                                                 const int n_tokens, const int many, const int lines, float *y) {
    const int64_t line = (int64_t)format->vectors * GRAFT_ROW_PAIRS, unit = graft_row_unit(self, line);
    const int64_t all = self->in_features / line, units = graft_packed_rows_blocks(self->in_features, unit);
    __m512 totals[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    struct graft_row_factors factors;
    graft_row_ints of;
    memcpy(&of, tile->of, sizeof of);
    for (int64_t first = 0; first < units; first += GRAFT_ROW_GROUPS / many) {
        const int64_t n = graft_packed_left(units, first, GRAFT_ROW_GROUPS / many);
        graft_row_factors_at(self, tile, n_rows, first * many, n * many, &factors);
        for (int64_t u = first; u < first + n; u++) {
            const int64_t at = u * (lines != 0 ? lines : unit / line);
            const int64_t end = at + (lines != 0 ? lines : graft_packed_left(all, at, unit / line));
            graft_row_rounded_unit(self, format, tile, &factors, of, n_rows, n_tokens, many, u, at, end,
                                   (u - first) * many, totals);
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int r = 0; r < n_rows; r++) {
            y[t * self->out_features + r * tile->part] = graft_row_sum((graft_row_floats)totals[t][r]);
        }
    }
}

/* [any] y of n rows and `n_tokens` tokens: tiles of `n_rows`, then what is left one by one. */
GRAFT_ROW_INLINE void graft_row_rounded_rows(const struct graft_packed_rows *self,
                                             const struct graft_row_rounding *format, const uint32_t *numbers,
                                             const float *sums, const int n_rows, const int n_tokens, const int many,
                                             const int lines, int64_t first, int64_t n, float *y) {
    struct graft_row_rounded_tile tile;
    tile.part = n / n_rows;
    tile.numbers = numbers;
    tile.sums = sums;
    graft_row_uint4_numbers(self, tile.of);
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_rounded_multiply(self, format, &tile, n_rows, n_tokens, many, lines, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_rounded_multiply(self, format, &tile, 1, n_tokens, many, lines, y + at);
    }
}

/* [any] Any number of tokens. */
GRAFT_ROW_INLINE void graft_row_rounded_tokens(const struct graft_packed_rows *self,
                                               const struct graft_row_rounding *format, const uint32_t *numbers,
                                               const float *sums, int64_t tokens, const int many, const int lines,
                                               int64_t first, int64_t n, float *y) {
    const int alone = format->bits == 4 ? GRAFT_ROW_UINT4_MOST : GRAFT_ROW_MOST;
    const int shared = format->bits == 4 ? GRAFT_ROW_UINT4_SHARED : GRAFT_ROW_SHARED;
    const int64_t in = self->in_features;
    int64_t t = 0;
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        graft_row_rounded_rows(self, format, numbers + t * (in / 2), sums + t * graft_packed_rows_sums(self), shared,
                               GRAFT_ROW_TOKENS, many, lines, first, n, y + t * self->out_features);
    }
    for (; t < tokens; t++) {
        graft_row_rounded_rows(self, format, numbers + t * (in / 2), sums + t * graft_packed_rows_sums(self), alone, 1,
                               many, lines, first, n, y + t * self->out_features);
    }
}

/* [any] graft_packed_rows_prepared.multiply. */
GRAFT_ROW_INLINE void graft_row_rounded_all(const struct graft_packed_rows *self,
                                            const struct graft_row_rounding *format, int64_t first, int64_t n,
                                            const uint32_t *numbers, const float *sums, int64_t tokens, float *y) {
    const int64_t line = (int64_t)format->vectors * GRAFT_ROW_PAIRS;
    if (format->bits == 4 && self->group_size == line / 4) {
        graft_row_rounded_tokens(self, format, numbers, sums, tokens, 4, 1, first, n, y);
    } else if (format->bits == 4 && self->group_size == line / 2) {
        graft_row_rounded_tokens(self, format, numbers, sums, tokens, 2, 1, first, n, y);
    } else if (format->bits == 4 && self->group_size == line) {
        graft_row_rounded_tokens(self, format, numbers, sums, tokens, 1, 1, first, n, y);
    } else {
        graft_row_rounded_tokens(self, format, numbers, sums, tokens, 1, 0, first, n, y);
    }
}

/* Defines format##_prepared for a kind of codes above. */
#define GRAFT_ROW_ROUNDED(format, kind)                                                  \
    static const struct graft_row_rounding format##_rounding = GRAFT_ROW_ROUNDED_##kind; \
    GRAFT_ROW_PREPARED_AS(format, graft_row_rounded, &format##_rounding, uint32_t)

#endif

#ifdef __cplusplus
}
#endif

#endif
