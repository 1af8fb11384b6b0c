/* SPDX-License-Identifier: Apache-2.0 */
/* Many tokens times rows of integer codes, as integer products: `many` and `bytes` of coded.h, with panel_loops.h. Rows
 * become panels: as many rows as there are lanes are transposed in registers. Part of loops.h. */
#ifndef GRAFT_KERNELS_CODED_MANY_H
#define GRAFT_KERNELS_CODED_MANY_H

#include "kernels/coded/loops.h"
#include "kernels/coded/panel_loops.h"

#if defined(__AVX2__)

/* [any] The sizes of a weight. Pairs hold codes less their zero points as integers, so that zero points must be whole
 * numbers. */
GRAFT_ROW_INLINE struct graft_many_sizes graft_row_many_sizes(const struct graft_coded *self,
                                                              const struct graft_many_shape shape) {
    const int fits = self->group_of == NULL && (shape.is_bytes || self->zero_numbers == NULL);
    return graft_many_sizes_of(shape, self->columns, self->groups, self->group_size, fits);
}

/* [any] Loads words [word, word + n) of each row of a strip, transposed to one vector for each word; n is at most the
 * number of lanes. */
GRAFT_ROW_INLINE void graft_row_many_words(const struct graft_row *rows, int64_t word, int64_t n,
                                           graft_vector_words *words) {
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        const unsigned char *from = rows[r].codes + word * (int64_t)sizeof(int32_t);
        uint32_t some[GRAFT_ROW_LANES] = {0};
        if (n == GRAFT_ROW_LANES) {
            memcpy(&words[r], from, sizeof words[r]);
        } else {
            memcpy(some, from, (size_t)n * sizeof *some);
            memcpy(&words[r], some, sizeof words[r]);
        }
    }
    graft_vector_square(words);
}

/* [any] out [n] = numbers of groups for each row of a strip, transposed. */
GRAFT_ROW_INLINE void graft_row_many_numbers(float numbers[][GRAFT_MANY_BLOCKS + GRAFT_ROW_PADDING], int64_t n,
                                             graft_row_floats *out) {
    for (int64_t g = 0; g < n; g += GRAFT_ROW_LANES) {
        graft_vector_words words[GRAFT_ROW_LANES];
        for (int r = 0; r < GRAFT_ROW_LANES; r++) {
            memcpy(&words[r], &numbers[r][g], sizeof words[r]);
        }
        graft_vector_square(words);
        memcpy(&out[g], words, sizeof words);
    }
}

/* [any] Reads zero points of groups [group, group + n) of a strip of rows. */
GRAFT_ROW_INLINE void graft_row_many_zeros(const struct graft_coded *self, const struct graft_row *rows, int64_t group,
                                           int64_t n, graft_row_floats *zeros) {
    float numbers[GRAFT_ROW_LANES][GRAFT_MANY_BLOCKS + GRAFT_ROW_PADDING];
    if (!graft_coded_has_zeros(self)) {
        for (int64_t g = 0; g < n; g++) {
            zeros[g] = graft_vector_all((float)self->zero);
        }
        return;
    }
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        graft_row_zeros(self, &rows[r], group, n, numbers[r]);
    }
    graft_row_many_numbers(numbers, n, zeros);
}

/* [any] Fills in scales and zero points of a panel's blocks, from column `column` on, for strip `across` of its
 * rows. */
GRAFT_ROW_INLINE void graft_row_many_blocks(const struct graft_coded *self, const struct graft_row *rows,
                                            const struct graft_many_shape shape, int64_t column, int64_t across,
                                            struct graft_many_panel *panel) {
    const int64_t size = graft_coded_group_columns(self);
    const int64_t first = column / size, n = (column + panel->blocks * panel->block - 1) / size - first + 1;
    const float moved = (float)graft_many_moved(shape);
    float numbers[GRAFT_ROW_LANES][GRAFT_MANY_BLOCKS + GRAFT_ROW_PADDING];
    graft_row_floats scales[GRAFT_MANY_BLOCKS], zeros[GRAFT_MANY_BLOCKS];
    for (int r = 0; r < GRAFT_ROW_LANES; r++) {
        graft_row_scales(self, &rows[r], first, n, numbers[r]);
    }
    graft_row_many_numbers(numbers, n, scales);
    graft_row_many_zeros(self, rows, first, n, zeros);
    for (int64_t b = 0; b < panel->blocks; b++, column += panel->block) {
        panel->scales[b][across] = scales[column / size - first];
        panel->zeros[b][across] = zeros[column / size - first] + moved;
    }
}

/* [any] Fills in the codes of a panel, from column `column` on, for a strip of rows whose blocks are filled in. */
GRAFT_ROW_INLINE void graft_row_many_codes(const struct graft_coded *self, const struct graft_row *rows,
                                           const struct graft_many_shape shape, int64_t column, int64_t across,
                                           struct graft_many_panel *panel) {
    const int64_t slots = 32 / self->bits, most = panel->block / slots, n_words = panel->blocks * most;
    graft_row_ints *out = &panel->words[0][across];
    for (int64_t w = 0; w < n_words; w += GRAFT_ROW_LANES) {
        const int64_t n = graft_coded_left(n_words, w, GRAFT_ROW_LANES);
        graft_vector_words words[GRAFT_ROW_LANES];
        graft_row_many_words(rows, column / slots + w, n, words);
        for (int64_t k = 0; k < n; k++) {
            const graft_row_floats zeros = panel->zeros[(w + k) / most][across];
            out = graft_many_spread((graft_row_ints)words[k], zeros, shape, out);
        }
    }
}

/* [any] A graft_many_fill. Missing rows are copies of the last one. */
GRAFT_ROW_INLINE void graft_row_many_fill(const struct graft_coded *self, const struct graft_many_shape shape,
                                          int64_t first, int64_t n, int64_t column, struct graft_many_panel *panel) {
    panel->stored = graft_coded_has_zeros(self);
    panel->zero = self->zero + graft_many_moved(shape);
    for (int64_t across = 0; across < GRAFT_MANY_ACROSS; across++) {
        struct graft_row rows[GRAFT_ROW_LANES];
        for (int64_t r = 0; r < GRAFT_ROW_LANES; r++) {
            rows[r] = graft_row_at(self, first + graft_coded_left(n - 1, 0, across * GRAFT_ROW_LANES + r));
        }
        graft_row_many_blocks(self, rows, shape, column, across, panel);
        graft_row_many_codes(self, rows, shape, column, across, panel);
    }
}

#endif

/* Defines the graft_coded_prepared `name` for codes of a shape, by a graft_many_fill. */
#define GRAFT_ROW_MANY(name, fill, bits, is_signed, is_bytes, is_float)                                           \
    static const struct graft_many_shape name##_shape = {bits, is_signed, is_bytes, is_float};                    \
    GRAFT_ROW_PREPARED_AS(name, graft_many_size(name##_shape, graft_row_many_sizes(self, name##_shape)),          \
                          graft_many_prepare(name##_shape, graft_row_many_sizes(self, name##_shape), x, inputs),  \
                          graft_many_multiply(self, name##_shape, graft_row_many_sizes(self, name##_shape), fill, \
                                              first, n, inputs, tokens, y, self->y_stride))

/* Defines format##_many and format##_bytes for a kind of codes. */
#define GRAFT_ROW_MANY_UINT4(format)                                                                \
    GRAFT_MANY_PAIRS(format##_many, GRAFT_ROW_MANY(format##_many, graft_row_many_fill, 4, 0, 0, 0)) \
    GRAFT_MANY_BYTES_4(format##_bytes, GRAFT_ROW_MANY(format##_bytes, graft_row_many_fill, 4, 0, 1, 0))
#define GRAFT_ROW_MANY_UINT8(format)                                                                \
    GRAFT_MANY_PAIRS(format##_many, GRAFT_ROW_MANY(format##_many, graft_row_many_fill, 8, 0, 0, 0)) \
    GRAFT_MANY_BYTES_8(format##_bytes, GRAFT_ROW_MANY(format##_bytes, graft_row_many_fill, 8, 0, 1, 0))
#define GRAFT_ROW_MANY_INT8(format)                                                                 \
    GRAFT_MANY_PAIRS(format##_many, GRAFT_ROW_MANY(format##_many, graft_row_many_fill, 8, 1, 0, 0)) \
    GRAFT_MANY_BYTES_8(format##_bytes, GRAFT_ROW_MANY(format##_bytes, graft_row_many_fill, 8, 1, 1, 0))
#define GRAFT_ROW_MANY_FLOAT8(format)     \
    GRAFT_CODED_UNPREPARED(format##_many) \
    GRAFT_CODED_UNPREPARED(format##_bytes)
#define GRAFT_ROW_MANY_FLOAT4(format)                                                               \
    GRAFT_MANY_PAIRS(format##_many, GRAFT_ROW_MANY(format##_many, graft_row_many_fill, 4, 0, 0, 1)) \
    GRAFT_MANY_BYTES_4(format##_bytes, GRAFT_ROW_MANY(format##_bytes, graft_row_many_fill, 4, 0, 1, 1))
#define GRAFT_ROW_MANY_KIND(format, kind) GRAFT_ROW_MANY_##kind(format)

#endif
