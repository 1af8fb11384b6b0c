/* SPDX-License-Identifier: Apache-2.0 */
/* Many tokens: rows of codes are widened directly to portions of W in the layout of the host's products
 * (kernels/transposed.h). Unpacking has inputs in lanes, the products have outputs in lanes, so blocks of as many rows
 * as there are lanes are transposed in registers. The numbers equal those of `widen`. Part of loops.h. */
#ifndef GRAFT_KERNELS_CODED_TRANSPOSED_H
#define GRAFT_KERNELS_CODED_TRANSPOSED_H

#include "kernels/coded/loops.h"
#include "kernels/transposed.h"

/* A strip: as many rows as there are lanes, with the scales and zero points of some groups. */
struct graft_row_strip {
    struct graft_row rows[GRAFT_ROW_LANES];                              /* the rows */
    float scales[GRAFT_ROW_LANES][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING]; /* of each row, in each of the groups */
    float zeros[GRAFT_ROW_LANES][GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];  /* zero points, likewise */
    int64_t group;                                                       /* first of these groups */
    int64_t groups;                                                      /* number of these groups */
    const float *table;                                                  /* the weight's table */
};

GRAFT_ASSERT_SIZE(struct graft_row_strip, GRAFT_ROW_LANES * 672 + 24);

/* [any] Rounds the elements of `first`, then those of `second`, to pairs of bf16. */
GRAFT_ROW_INLINE graft_vector_words graft_row_pairs(graft_row_floats first, graft_row_floats second) {
#if defined(__AVX512BF16__) /* subnormal numbers become 0, as in bf16 products */
    return (graft_vector_words)(__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
#else
    const graft_vector_words a = graft_row_round(first), b = graft_row_round(second);
    return GRAFT_VECTOR_EVEN(a, b) >> 16 | GRAFT_VECTOR_ODD(a, b);
#endif
}

/* [any] Weights [i, i + n) of a strip's row, in group `g` of those that the strip has; n is at most the number of
 * lanes, and the other lanes are undefined. */
GRAFT_ROW_INLINE graft_row_floats graft_row_transposed_weights(const struct graft_row_strip *strip,
                                                               graft_row_unpack unpack, int bits, int64_t g, int r,
                                                               int64_t i, int64_t n) {
    const unsigned char *codes = strip->rows[r].codes;
    const float zero = strip->zeros[r][g];
    return (n >= GRAFT_ROW_LANES ? unpack(codes, i, zero, strip->table)
                                 : graft_row_unpack_end(unpack, bits, codes, i, n, zero, strip->table)) *
           strip->scales[r][g];
}

/* [any] Writes columns [i, i + n) of a strip, in group `g` of those that it has, as lines of a portion `width` words
 * apart. There are at most as many columns as lanes or, with pairs, twice as many. */
GRAFT_ROW_INLINE void graft_row_transposed_block(const struct graft_row_strip *strip, graft_row_unpack unpack, int bits,
                                                 const int is_pairs, int is_rounded, int64_t g, int64_t i, int64_t n,
                                                 int64_t width, uint32_t *out) {
    graft_vector_words words[GRAFT_ROW_LANES];
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        const graft_row_floats first = graft_row_transposed_weights(strip, unpack, bits, g, r, i, n);
        if (is_pairs) {
            const int64_t more = n - GRAFT_ROW_LANES;
            words[r] = graft_row_pairs(
                first,
                more > 0 ? graft_row_transposed_weights(strip, unpack, bits, g, r, i + GRAFT_ROW_LANES, more) : first);
        } else {
            words[r] = is_rounded ? graft_row_round(first) : (graft_vector_words)first;
        }
    }
    graft_vector_square(words);
    for (int64_t line = 0; line < (is_pairs ? n / 2 : n); line++, out += width) {
        memcpy(out, &words[line], sizeof words[line]);
    }
}

/* [any] Reads scales and zero points of group `group` and the groups after it, as many as the strip has room for. */
GRAFT_ROW_INLINE void graft_row_transposed_groups(const struct graft_coded *self, struct graft_row_strip *strip,
                                                  int64_t group) {
    const int64_t n = graft_coded_left(self->groups, group, GRAFT_ROW_GROUPS);
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        graft_row_scales(self, &strip->rows[r], group, n, strip->scales[r]);
        graft_row_zeros(self, &strip->rows[r], group, n, strip->zeros[r]);
    }
    strip->group = group;
    strip->groups = n;
}

/* [any] Prefetches the same columns of the next strip into the second-level cache, since a strip's rows are too many
 * streams for the processor's prefetcher. */
GRAFT_ROW_INLINE void graft_row_transposed_prefetch(const struct graft_coded *self, const struct graft_row_strip *strip,
                                                    int64_t i) {
    const int64_t ahead = i * self->bits / 8 + GRAFT_ROW_LANES * self->row_bytes;
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        __builtin_prefetch((const void *)((uintptr_t)strip->rows[r].codes + (uintptr_t)ahead), 0, 2);
    }
}

/* [any] Writes all columns of a portion for a strip of its rows. */
GRAFT_ROW_INLINE void graft_row_transposed_strip(const struct graft_coded *self, graft_row_unpack unpack,
                                                 const int is_pairs, const struct graft_transposed_portion *portion,
                                                 struct graft_row_strip *strip, uint32_t *out) {
    const int64_t most = is_pairs ? 2 * GRAFT_ROW_LANES : GRAFT_ROW_LANES;
    const int64_t last = portion->column + portion->columns;
    const int64_t line = (int64_t)GRAFT_ROW_LINE * 8 / self->bits; /* a power of two */
    const int is_rounded = portion->layout != GRAFT_TRANSPOSED_F32;
    int64_t i = portion->column;
    while (i < last) {
        const int64_t group = i / self->group_size,
                      left = graft_coded_left(last, i, self->group_size - i % self->group_size);
        const int64_t end = i + left;
        if (group >= strip->group + strip->groups) {
            graft_row_transposed_groups(self, strip, group);
        }
        const int64_t g = group - strip->group;
        for (; end - i >= most; i += most, out += GRAFT_ROW_LANES * portion->width) {
            if ((i & (line - 1)) < most) {
                graft_row_transposed_prefetch(self, strip, i);
            }
            graft_row_transposed_block(strip, unpack, self->bits, is_pairs, is_rounded, g, i, most, portion->width,
                                       out);
        }
        if (i < end) {
            graft_row_transposed_block(strip, unpack, self->bits, is_pairs, is_rounded, g, i, end - i, portion->width,
                                       out);
            out += (is_pairs ? (end - i) / 2 : end - i) * portion->width;
            i = end;
        }
    }
}

/* [any] Implements `turn` of a table. */
GRAFT_ROW_INLINE void graft_row_transposed(const struct graft_coded *self, graft_row_unpack unpack,
                                           const struct graft_transposed_portion *portion) {
    const int is_pairs = portion->layout == GRAFT_TRANSPOSED_PAIRS;
    const int64_t lines = is_pairs ? portion->columns / 2 : portion->columns;
    struct graft_row_strip strip;
    strip.table = self->table;
    for (int64_t at = 0; at < portion->rows; at += GRAFT_ROW_LANES) {
        uint32_t *out = (uint32_t *)portion->out + at / portion->width * portion->width * lines + at % portion->width;
        for (int r = 0; r < GRAFT_ROW_LANES; r++) {
            strip.rows[r] = graft_row_at(self, portion->row + at + r);
        }
        strip.group = strip.groups = 0;
        if (is_pairs) {
            graft_row_transposed_strip(self, unpack, 1, portion, &strip, out);
        } else {
            graft_row_transposed_strip(self, unpack, 0, portion, &strip, out);
        }
    }
}

#endif
