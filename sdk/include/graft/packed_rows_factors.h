/* SPDX-License-Identifier: Apache-2.0 */
/* Scales and zero points of a row's groups, some at once, for AVX2 and AVX-512. Part of packed_rows_loops.h. */
#ifndef GRAFT_PACKED_ROWS_FACTORS_H
#define GRAFT_PACKED_ROWS_FACTORS_H

#include "packed_rows_loops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Groups that have them widened at once; what may be read or written behind the last; how many bytes ahead they are
 * fetched; and the most rows times tokens of a tile whose inputs are integers. */
enum { GRAFT_ROW_GROUPS = 64, GRAFT_ROW_BEHIND = 16, GRAFT_ROW_SCALES_AHEAD = 384, GRAFT_ROW_SUMS = 12 };

/* Scales and zero points of some groups of a tile's rows. */
struct graft_row_factors {
    float scales[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND]; /* of each row */
    float zeros[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND];  /* likewise, where they are stored */
};

/* Of the rows and tokens of a tile, where inputs are integers: of each part, which is a group or a block of a larger
 * one. */
struct graft_row_steps {
    float steps[GRAFT_ROW_SUMS][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND]; /* what an integer counts for, times the scale */
    float zeros[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_BEHIND]; /* of rows, where they are stored */
};

GRAFT_ASSERT_SIZE(struct graft_row_factors, 2560);
GRAFT_ASSERT_SIZE(struct graft_row_steps, 5120);

#if defined(__AVX2__)

/* [any] As many powers as there are lanes (graft_row_power). */
GRAFT_ROW_INLINE graft_row_floats graft_row_powers(const unsigned char *bytes) {
#if defined(__AVX512F__)
    const graft_row_ints all =
        (graft_row_ints)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
#else
    const graft_row_ints all = (graft_row_ints)_mm256_cvtepu8_epi32(_mm_loadu_si64(bytes));
#endif
    return (graft_row_floats)(all << 23 | ((all == 0) & 1 << 22));
}

/* [any] Scales at `scales`, as many as there are lanes. */
GRAFT_ROW_INLINE graft_row_floats graft_row_some_scales(graft_dtype dtype, const void *scales) {
    switch (dtype) {
    case GRAFT_DTYPE_F16:
        return graft_packed_halves((const uint16_t *)scales);
    case GRAFT_DTYPE_BF16:
        return graft_packed_brains((const uint16_t *)scales);
    case GRAFT_DTYPE_U8:
        return graft_row_powers((const unsigned char *)scales);
    default:
        return (graft_row_floats)graft_packed_words_from(scales);
    }
}

/* [any] out [n] = the scales of a row's groups from `group` on. Those of rows below are fetched: nothing else would be
 * done while they come. */
GRAFT_ROW_INLINE void graft_row_scales(const struct graft_row *row, int64_t group, int64_t n, float *out) {
    const graft_dtype dtype = row->scales->dtype;
    const int64_t size = graft_row_scale_size(dtype);
    const char *scales = (const char *)row->scales->data + (row->scale + group) * size;
    int64_t g = 0;
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        const graft_row_floats some = graft_row_some_scales(dtype, scales + g * size);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(scales + g * size) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    for (; g < n; g++) {
        out[g] = graft_row_scale(row, group + g);
    }
}

/* [any] Likewise their zero points. */
GRAFT_ROW_INLINE void graft_row_zeros(const struct graft_packed_rows *self, const struct graft_row *row, int64_t group,
                                      int64_t n, float *out) {
    const int32_t slots = 32 / self->bits, most = (1 << self->bits) - 1;
    const int32_t *words = self->zeros + row->output / slots * self->groups + group;
    const int32_t shift = (int32_t)(row->output % slots) * self->bits;
    int64_t g = 0;
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        const graft_row_ints codes = (graft_row_ints)graft_packed_words_from(words + g);
        const graft_row_floats some = __builtin_convertvector(((codes >> shift) & most) + self->zero, graft_row_floats);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(words + g) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    for (; g < n; g++) {
        out[g] = graft_row_zero(self, row, group + g);
    }
}

/* [any] Fills them in for groups [group, group + n) of some rows. */
GRAFT_ROW_INLINE void graft_row_factors_at(const struct graft_packed_rows *self, const struct graft_row *rows,
                                           const int n_rows, int64_t group, int64_t n,
                                           struct graft_row_factors *factors) {
    for (int r = 0; r < n_rows; r++) {
        graft_row_scales(&rows[r], group, n, factors->scales[r]);
        if (self->zeros != NULL) {
            graft_row_zeros(self, &rows[r], group, n, factors->zeros[r]);
        }
    }
}

/* [any] The first `many` numbers, 1, 2 or 4, each in as many lanes; four can be read. */
GRAFT_ROW_INLINE graft_row_floats graft_row_spread(const float *numbers, const int many) {
    const graft_row_floats none = {0};
    if (many == 1) {
        return *numbers - none; /* adding 0 would change the sign of -0, so the compiler would do it */
    }
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return (graft_row_floats)_mm512_permutexvar_ps(_mm512_srli_epi32(lanes, many == 2 ? 3 : 2),
                                                   _mm512_castps128_ps512(_mm_loadu_ps(numbers)));
#else
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (graft_row_floats)_mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(numbers)),
                                                      _mm256_srli_epi32(lanes, many == 2 ? 2 : 1));
#endif
}

#endif

#ifdef __cplusplus
}
#endif

#endif
