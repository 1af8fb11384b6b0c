/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scales and zero points of a tile's rows, several groups at once. Part of loops.h. */
#ifndef GRAFT_KERNELS_CODED_FACTORS_H
#define GRAFT_KERNELS_CODED_FACTORS_H

#include "kernels/coded/loops.h"

/* The maximum of rows times tokens in a tile whose inputs are integers. */
enum { GRAFT_ROW_SUMS = 12 };

/* Scales and zero points of several groups of a tile's rows. They are aligned, because vectors that cross cache lines
 * are slow to read right after they were written. */
struct graft_row_factors {
    /* Scales of each row. */
    _Alignas(GRAFT_ROW_LINE) float scales[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];
    /* Zero points of each row, if they are stored. */
    float zeros[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];
};

/* Factors of a tile with integer inputs, one for each part: a part is a group, or a block of a larger group. */
struct graft_row_steps {
    /* The unit of the inputs' integers times the scale. */
    _Alignas(GRAFT_ROW_LINE) float steps[GRAFT_ROW_SUMS][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];
    /* Zero points of rows, if they are stored. */
    float zeros[GRAFT_ROW_MOST][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];
};

GRAFT_ASSERT_SIZE(struct graft_row_factors, 2560);
GRAFT_ASSERT_SIZE(struct graft_row_steps, 5120);

/* [any] Fills in the factors of groups [group, group + n) for several rows. Not inlined, to keep it out of the loops
 * that read them. */
static __attribute__((noinline, unused)) void graft_row_factors_at(const struct graft_coded *self,
                                                                   const struct graft_row *rows, int n_rows,
                                                                   int64_t group, int64_t n,
                                                                   struct graft_row_factors *factors) {
    for (int r = 0; r < n_rows; r++) {
        graft_row_scales(self, &rows[r], group, n, factors->scales[r]);
        if (graft_coded_has_zeros(self)) {
            graft_row_zeros(self, &rows[r], group, n, factors->zeros[r]);
        }
    }
}

#if defined(__AVX2__)

/* [any] Repeats each of the first `many` numbers (1, 2, 4 or, with 16 lanes, 8) over an equal share of the lanes. Reads
 * four numbers, or eight. */
GRAFT_ROW_INLINE graft_row_floats graft_row_spread(const float *numbers, const int many) {
    if (many == 1) {
        return graft_vector_all(*numbers);
    }
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 some =
        many == 8 ? _mm512_castps256_ps512(_mm256_loadu_ps(numbers)) : _mm512_castps128_ps512(_mm_loadu_ps(numbers));
    return (graft_row_floats)_mm512_permutexvar_ps(_mm512_srli_epi32(lanes, many == 2 ? 3 : many == 4 ? 2 : 1), some);
#else
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (graft_row_floats)_mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(numbers)),
                                                      _mm256_srli_epi32(lanes, many == 2 ? 2 : 1));
#endif
}

#endif

#endif
