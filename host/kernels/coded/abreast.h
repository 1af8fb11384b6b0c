/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of coded.h for unsigned codes of 4 bits that are stored abreast: a word has eight columns of a row, and the
 * words of as many rows as a vector has lanes are contiguous, followed by those of the next eight columns. Weights that
 * are rearranged when they are loaded have this layout (arrange.c). They are read in a few long streams, and since each
 * lane is a row, no sums over lanes are needed: scales take one product for all rows of a vector. Products of integers
 * are in abreast_integers.h.
 */
#ifndef GRAFT_KERNELS_CODED_ABREAST_H
#define GRAFT_KERNELS_CODED_ABREAST_H

#include "kernels/coded/loops.h"

/* Columns of a word; the most vectors of rows times tokens that are multiplied side by side. */
enum { GRAFT_ROW_ABREAST_COLUMNS = 8, GRAFT_ROW_ABREAST_SUMS = 8 };

/* --- Codes, scales and zero points --- */

/* [any] One word of each row from `row` on, a row in each lane. The word has the codes of columns [8 word, 8 word + 8).
 * A whole vector can be read at the weight's end: arrange.c adds rows after the last one. */
GRAFT_ROW_INLINE graft_row_ints graft_row_abreast_word(const struct graft_coded *self, int64_t row, int64_t word) {
    const int64_t lane = row % GRAFT_ROW_LANES, words = self->row_bytes / (int64_t)sizeof(int32_t);
    const int32_t *from = (const int32_t *)graft_weight_block(self->codes, 0)->data +
                          (row / GRAFT_ROW_LANES * words + word) * GRAFT_ROW_LANES;
    int32_t some[GRAFT_ROW_LANES];
    graft_row_ints loaded;
    if (lane == 0) {
        memcpy(&loaded, from, sizeof loaded);
        return loaded;
    }
    memcpy(some, from + lane, (size_t)(GRAFT_ROW_LANES - lane) * sizeof *some);
    memcpy(some + (GRAFT_ROW_LANES - lane), from + words * GRAFT_ROW_LANES, (size_t)lane * sizeof *some);
    memcpy(&loaded, some, sizeof loaded);
    return loaded;
}

/* [any] Prefetches words after these. */
GRAFT_ROW_INLINE void graft_row_abreast_prefetch(const struct graft_coded *self, int64_t row, int64_t word) {
    const char *codes = (const char *)graft_weight_block(self->codes, 0)->data;
    const int64_t at = row / GRAFT_ROW_LANES * GRAFT_ROW_LANES * self->row_bytes;
    graft_row_prefetch((const unsigned char *)codes + at + word * (int64_t)sizeof(graft_row_ints), 0);
}

/* [any] Code `k` of each word. */
GRAFT_ROW_INLINE graft_row_floats graft_row_abreast_code(graft_row_ints words, int k) {
    return __builtin_convertvector(words >> 4 * k & 15, graft_row_floats);
}

/* [any] The scales of a group, of rows from `row` on. */
GRAFT_ROW_INLINE graft_row_floats graft_row_abreast_scales(const struct graft_coded *self, int64_t row, int64_t group) {
    const struct graft_row_block *block = graft_weight_block(self->scales, 0);
    const int64_t at = group * self->codes->rows + row;
    return graft_row_some_scales(self, block->dtype,
                                 (const char *)block->data + at * graft_row_scale_size(block->dtype));
}

/* [any] Their zero points. */
GRAFT_ROW_INLINE graft_row_floats graft_row_abreast_zeros(const struct graft_coded *self, int64_t row, int64_t group) {
    const graft_row_floats none = {0};
    if (self->zero_bytes == NULL) {
        return none + (float)self->zero;
    }
    const unsigned char *bytes = self->zero_bytes + group * self->codes->rows + row;
    return __builtin_convertvector(graft_row_bytes(bytes), graft_row_floats);
}

/* [any] y [n] of rows from `row` on, counted from y's first: those that y has. */
GRAFT_ROW_INLINE void graft_row_abreast_store(graft_row_floats numbers, int64_t row, int64_t n, float *y) {
    float some[GRAFT_ROW_LANES];
    if (row >= 0 && row + GRAFT_ROW_LANES <= n) {
        memcpy(y + row, &numbers, sizeof numbers);
        return;
    }
    memcpy(some, &numbers, sizeof some);
    for (int64_t l = row < 0 ? -row : 0; l < GRAFT_ROW_LANES && row + l < n; l++) {
        y[row + l] = some[l];
    }
}

/* --- Products of f32 --- */

/* [any] totals [n_strips, n_tokens] = products of rows from `row` on, n_strips vectors of them, with x. */
GRAFT_ROW_INLINE void graft_row_abreast_exact(const struct graft_coded *self, int64_t row, int64_t apart,
                                              const int n_strips, const int n_tokens, const float *x,
                                              graft_row_floats *totals) {
    for (int64_t group = 0; group < self->groups; group++) {
        graft_row_floats sums[GRAFT_ROW_ABREAST_SUMS] = {{0}}, zeros[GRAFT_ROW_ABREAST_SUMS];
        const int64_t first = group * self->group_size;
        const int64_t last = first + graft_coded_left(self->columns, first, self->group_size);
        for (int s = 0; s < n_strips; s++) {
            zeros[s] = graft_row_abreast_zeros(self, row + s * apart, group);
        }
        for (int64_t i = first; i < last; i += GRAFT_ROW_ABREAST_COLUMNS) {
            graft_row_ints words[GRAFT_ROW_ABREAST_SUMS];
            for (int s = 0; s < n_strips; s++) {
                words[s] = graft_row_abreast_word(self, row + s * apart, i / GRAFT_ROW_ABREAST_COLUMNS);
            }
            for (int k = 0; k < GRAFT_ROW_ABREAST_COLUMNS; k++) {
                for (int s = 0; s < n_strips; s++) {
                    const graft_row_floats codes = graft_row_abreast_code(words[s], k) - zeros[s];
                    for (int t = 0; t < n_tokens; t++) {
                        const graft_row_floats inputs = graft_vector_all(x[t * self->x_stride + i + k]);
                        sums[s * n_tokens + t] = graft_vector_add_product(sums[s * n_tokens + t], codes, inputs);
                    }
                }
            }
        }
        for (int s = 0; s < n_strips * n_tokens; s++) {
            totals[s] = graft_vector_add_product(totals[s], sums[s],
                                                 graft_row_abreast_scales(self, row + s / n_tokens * apart, group));
        }
    }
}

/* [any] y of vectors of rows, n_strips of them side by side, one from each part of the rows: memory is then read in a
 * few long streams. Then of what is left, one by one. `call` makes `totals` of n_strips vectors of rows, the first of
 * which is row `row`, `apart` rows from each other. */
#define GRAFT_ROW_ABREAST_STRIPS(self, first, n, strips, n_tokens, y, call)                                   \
    do {                                                                                                      \
        const int64_t lanes = GRAFT_ROW_LANES, begin = ((self)->first + (first)) / lanes * lanes;             \
        const int64_t all = ((self)->first + (first) + (n)-begin + lanes - 1) / lanes, part = all / (strips); \
        const int64_t apart = part * lanes;                                                                   \
        for (int64_t k = 0, row = begin; k < all - part * ((strips)-1); k++, row += lanes) {                  \
            graft_row_floats totals[GRAFT_ROW_ABREAST_SUMS] = {{0}};                                          \
            row += k == part ? ((strips)-1) * apart : 0;                                                      \
            if (k < part) {                                                                                   \
                const int n_strips = (strips);                                                                \
                call;                                                                                         \
            } else {                                                                                          \
                const int n_strips = 1;                                                                       \
                call;                                                                                         \
            }                                                                                                 \
            for (int64_t s = 0; s < (k < part ? (strips) : 1) * (n_tokens); s++) {                            \
                graft_row_abreast_store(totals[s], row + s / (n_tokens)*apart - (self)->first - (first), n,   \
                                        (y) + s % (n_tokens) * (self)->y_stride);                             \
            }                                                                                                 \
        }                                                                                                     \
    } while (0)

/* [any] `multiply` of a table. */
GRAFT_ROW_INLINE void graft_row_abreast_multiply(const struct graft_coded *self, int64_t first, int64_t n,
                                                 const float *x, int64_t tokens, float *y) {
    int64_t t = 0;
    for (; t + 4 <= tokens; t += 4) {
        GRAFT_ROW_ABREAST_STRIPS(
            self, first, n, 1, 4, y + t * self->y_stride,
            graft_row_abreast_exact(self, row, apart, n_strips, 4, x + t * self->x_stride, totals));
    }
    for (; t < tokens; t++) {
        GRAFT_ROW_ABREAST_STRIPS(
            self, first, n, 4, 1, y + t * self->y_stride,
            graft_row_abreast_exact(self, row, apart, n_strips, 1, x + t * self->x_stride, totals));
    }
}

/* --- Rows and portions --- */

/* [any] columns [columns] = up to a vector's lanes of columns from `column` on, of rows from `row` on. */
GRAFT_ROW_INLINE void graft_row_abreast_columns(const struct graft_coded *self, int64_t row, int64_t column, int64_t n,
                                                graft_row_floats *columns) {
    graft_row_floats scales = {0}, zeros = {0};
    int64_t group = -1;
    for (int64_t c = 0; c < n; c++) {
        const int64_t i = column + c, place = i % GRAFT_ROW_ABREAST_COLUMNS;
        if (i / self->group_size != group) {
            group = i / self->group_size;
            scales = graft_row_abreast_scales(self, row, group);
            zeros = graft_row_abreast_zeros(self, row, group);
        }
        const graft_row_ints words = graft_row_abreast_word(self, row, i / GRAFT_ROW_ABREAST_COLUMNS);
        columns[c] = (graft_row_abreast_code(words, (int)place) - zeros) * scales;
    }
}

/* [any] `widen` of a table. */
GRAFT_ROW_INLINE void graft_row_abreast_widen(const struct graft_coded *self, int64_t first, int64_t n,
                                              graft_dtype dtype, char *out) {
    const int64_t size = dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    for (int64_t r = 0; r < n; r += GRAFT_ROW_LANES) {
        for (int64_t i = 0; i < self->columns; i += GRAFT_ROW_LANES) {
            const int64_t there = graft_coded_left(self->columns, i, GRAFT_ROW_LANES);
            graft_row_floats numbers[GRAFT_ROW_LANES] = {{0}};
            graft_vector_words words[GRAFT_ROW_LANES];
            graft_row_abreast_columns(self, self->first + first + r, i, there, numbers);
            memcpy(words, numbers, sizeof words);
            graft_vector_square(words);
            for (int64_t k = 0; k < GRAFT_ROW_LANES && r + k < n; k++) {
                graft_row_store((graft_row_floats)words[k], there, dtype, out + ((r + k) * self->columns + i) * size);
            }
        }
    }
}

/* [any] Pairs of bf16, of a number of `first` and one of `second`. */
GRAFT_ROW_INLINE graft_vector_words graft_row_abreast_pairs(graft_row_floats first, graft_row_floats second) {
#if defined(__AVX512BF16__) /* denormals become 0, as the products take them */
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
    const __m512i lanes =
        _mm512_setr_epi32(0x100000, 0x110001, 0x120002, 0x130003, 0x140004, 0x150005, 0x160006, 0x170007, 0x180008,
                          0x190009, 0x1a000a, 0x1b000b, 0x1c000c, 0x1d000d, 0x1e000e, 0x1f000f);
    return (graft_vector_words)_mm512_permutexvar_epi16(lanes, both);
#else
    return graft_row_round(first) >> 16 | graft_row_round(second);
#endif
}

/* [any] A word's eight columns as lines of a portion, `width` words apart. */
GRAFT_ROW_INLINE uint32_t *graft_row_abreast_lines(graft_row_ints words, graft_row_floats scales,
                                                   graft_row_floats zeros, const int32_t layout, int64_t width,
                                                   uint32_t *out) {
    graft_row_floats columns[GRAFT_ROW_ABREAST_COLUMNS];
    for (int k = 0; k < GRAFT_ROW_ABREAST_COLUMNS; k++) {
        columns[k] = (graft_row_abreast_code(words, k) - zeros) * scales;
    }
    for (int k = 0; k < GRAFT_ROW_ABREAST_COLUMNS; k += layout == GRAFT_TRANSPOSED_PAIRS ? 2 : 1, out += width) {
        const graft_vector_words line = layout == GRAFT_TRANSPOSED_PAIRS
                                            ? graft_row_abreast_pairs(columns[k], columns[k + 1])
                                        : layout == GRAFT_TRANSPOSED_F32 ? (graft_vector_words)columns[k]
                                                                         : graft_row_round(columns[k]);
        memcpy(out, &line, sizeof line);
    }
    return out;
}

/* [any] `turn` of a table, for a layout that is a constant. */
GRAFT_ROW_INLINE void graft_row_abreast_turn_as(const struct graft_coded *self, const int32_t layout,
                                                const struct graft_transposed_portion *portion) {
    const int64_t lines = layout == GRAFT_TRANSPOSED_PAIRS ? portion->columns / 2 : portion->columns;
    const int64_t size = graft_coded_group_columns(self);
    const int64_t last = portion->column + portion->columns;
    for (int64_t at = 0; at < portion->rows; at += GRAFT_ROW_LANES) {
        uint32_t *out = (uint32_t *)portion->out + at / portion->width * portion->width * lines + at % portion->width;
        const int64_t row = self->first + portion->row + at;
        for (int64_t i = portion->column, end; i < last; i = end) {
            const int64_t group = i / size;
            const graft_row_floats scales = graft_row_abreast_scales(self, row, group);
            const graft_row_floats zeros = graft_row_abreast_zeros(self, row, group);
            end = (group + 1) * size < last ? (group + 1) * size : last;
            for (int64_t word = i / GRAFT_ROW_ABREAST_COLUMNS; word < end / GRAFT_ROW_ABREAST_COLUMNS; word++) {
                graft_row_abreast_prefetch(self, row, word);
                out = graft_row_abreast_lines(graft_row_abreast_word(self, row, word), scales, zeros, layout,
                                              portion->width, out);
            }
        }
    }
}

/* [any] `turn` of a table. */
GRAFT_ROW_INLINE void graft_row_abreast_turn(const struct graft_coded *self,
                                             const struct graft_transposed_portion *portion) {
    if (portion->layout == GRAFT_TRANSPOSED_PAIRS) {
        graft_row_abreast_turn_as(self, GRAFT_TRANSPOSED_PAIRS, portion);
    } else if (portion->layout == GRAFT_TRANSPOSED_BF16) {
        graft_row_abreast_turn_as(self, GRAFT_TRANSPOSED_BF16, portion);
    } else {
        graft_row_abreast_turn_as(self, GRAFT_TRANSPOSED_F32, portion);
    }
}

#endif
