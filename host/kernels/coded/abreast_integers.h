/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of 4 bits that lie abreast (abreast.h), times tokens as integers, for AVX2 and AVX-512. Few tokens are
 * multiplied with the codes where they lie: pairs of codes by pairs of inputs, which have 16 bits and, for each block
 * of inputs, the unit that steps.h says. Each row has a sum for each token, over blocks in their order: nothing depends
 * on the number of tokens, threads or rows. Many tokens are multiplied with panels (panel_loops.h).
 */
#ifndef GRAFT_KERNELS_CODED_ABREAST_INTEGERS_H
#define GRAFT_KERNELS_CODED_ABREAST_INTEGERS_H

#include "kernels/coded/abreast.h"

#if defined(__AVX2__)

/* --- Few tokens --- */

/* Vectors of rows that 1, 2 or 4 tokens are multiplied by side by side, as many as there are registers for. */
enum {
    GRAFT_ROW_ABREAST_ONE = 4,
    GRAFT_ROW_ABREAST_TWO = GRAFT_ROW_LANES == 16 ? 4 : 2,
    GRAFT_ROW_ABREAST_FOUR = GRAFT_ROW_LANES == 16 ? 2 : 1
};

/* Inputs as prepared: pairs of integers in the order of codes k and k + 4 of each word; for each block the unit of its
 * integers; and what its sums begin with, or, where zero points are stored, the sum of its integers. */
struct graft_row_abreast_inputs {
    const char *pairs;   /* of the first token */
    const float *steps;  /* [blocks] */
    const int32_t *sums; /* [blocks] */
    int64_t block;       /* columns */
    int64_t size;        /* bytes from token to token */
};

GRAFT_ASSERT_SIZE(struct graft_row_abreast_inputs, 40);

static const struct graft_many_shape graft_row_abreast_shape = {4, 0, 0, 0};

/* [any] Columns of a block; 0: there are groups that blocks do not fit. */
GRAFT_ROW_INLINE int64_t graft_row_abreast_block(const struct graft_coded *self) {
    return graft_row_many_sizes(self, graft_row_abreast_shape).block;
}

/* [any] graft_coded_prepared.size. */
GRAFT_ROW_INLINE int64_t graft_row_abreast_size(const struct graft_coded *self) {
    const int64_t block = graft_row_abreast_block(self), each = (int64_t)(sizeof(float) + sizeof(int32_t));
    if (block == 0) {
        return 0;
    }
    const int64_t size = self->columns * (int64_t)sizeof(int16_t) + self->columns / block * each;
    return (size + GRAFT_ROW_LINE - 1) / GRAFT_ROW_LINE * GRAFT_ROW_LINE;
}

/* [any] What is prepared, of tokens from `from` on. */
GRAFT_ROW_INLINE struct graft_row_abreast_inputs graft_row_abreast_at(const struct graft_coded *self,
                                                                      const void *from) {
    struct graft_row_abreast_inputs inputs;
    inputs.block = graft_row_abreast_block(self);
    inputs.size = graft_row_abreast_size(self);
    inputs.pairs = (const char *)from;
    inputs.steps = (const float *)(const void *)(inputs.pairs + self->columns * (int64_t)sizeof(int16_t));
    inputs.sums = (const int32_t *)(const void *)(inputs.steps + self->columns / inputs.block);
    return inputs;
}

/* [any] graft_coded_prepared.prepare. */
GRAFT_ROW_INLINE void graft_row_abreast_prepare(const struct graft_coded *self, const float *x, void *out) {
    const struct graft_row_abreast_inputs inputs = graft_row_abreast_at(self, out);
    float *steps = (float *)(uintptr_t)inputs.steps;
    int32_t *sums = (int32_t *)(uintptr_t)inputs.sums;
    char *pairs = (char *)out;
    for (int64_t i = 0; i < self->columns; i += inputs.block) {
        const float factor = graft_coded_factor(x + i, inputs.block, steps++);
        __m128i sum = _mm_setzero_si128();
        int32_t four[4];
        for (int64_t k = 0; k < inputs.block; k += GRAFT_ROW_ABREAST_COLUMNS, pairs += sizeof sum) {
            const __m128i line = graft_many_line(x + i + k, factor, graft_row_abreast_shape);
            _mm_storeu_si128((__m128i *)(void *)pairs, line);
            sum = _mm_add_epi32(sum, _mm_madd_epi16(line, _mm_set1_epi16(1)));
        }
        memcpy(four, &sum, sizeof four);
        const int32_t all = four[0] + four[1] + four[2] + four[3];
        *sums++ = graft_coded_has_zeros(self) ? all : all * -self->zero;
    }
}

/* [any] sums [n_strips, n_tokens] += `n` words of each row, from `word` on, times pairs of inputs. */
GRAFT_ROW_INLINE void graft_row_abreast_add(const struct graft_coded *self, int64_t row, int64_t apart,
                                            const int n_strips, const int n_tokens, const int is_near, int64_t word,
                                            int64_t n, const char *pairs, int64_t size, graft_row_ints *sums) {
    const int64_t words = self->row_bytes / (int64_t)sizeof(int32_t);
    const char *codes = (const char *)graft_weight_block(self->codes, 0)->data +
                        (row * words + word * GRAFT_ROW_LANES) * (int64_t)sizeof(int32_t);
    for (int64_t w = 0; w < n; w++, codes += sizeof(graft_row_ints), pairs += 4 * sizeof(int32_t)) {
        graft_row_ints some[GRAFT_ROW_ABREAST_SUMS];
        for (int s = 0; s < n_strips; s++) {
            const char *at = codes + s * apart * self->row_bytes;
            some[s] = graft_row_integers_load(at);
            __asm__("" : "+v"(some[s])); /* loaded once: the compiler would load it for each pair */
            graft_row_prefetch((const unsigned char *)at, is_near);
        }
        for (int k = 0; k < GRAFT_ROW_ABREAST_COLUMNS / 2; k++) {
            for (int s = 0; s < n_strips; s++) {
                const graft_row_ints two = some[s] >> 4 * k & 0x000f000f;
                for (int t = 0; t < n_tokens; t++) {
                    sums[s * n_tokens + t] = graft_vector_dot(
                        sums[s * n_tokens + t], two, graft_many_all(pairs + t * size + k * (int64_t)sizeof(int32_t)));
                }
            }
        }
    }
}

/* [any] totals [n_strips, n_tokens] = products of rows from `row` on, n_strips vectors of them. */
GRAFT_ROW_INLINE void graft_row_abreast_blocks(const struct graft_coded *self,
                                               const struct graft_row_abreast_inputs *inputs, int64_t row,
                                               int64_t apart, const int n_strips, const int n_tokens, const int stored,
                                               const int is_near, graft_row_floats *totals) {
    const int64_t block = inputs->block, next = inputs->size / (int64_t)sizeof(int32_t), group_size = self->group_size;
    int64_t group = 0, left = group_size;
    for (int64_t b = 0; b < self->columns / block; b++) {
        graft_row_ints sums[GRAFT_ROW_ABREAST_SUMS];
        const graft_row_ints none = {0};
        for (int s = 0; s < n_strips * n_tokens; s++) {
            sums[s] = stored ? none : none + inputs->sums[b + s % n_tokens * next];
        }
        graft_row_abreast_add(self, row, apart, n_strips, n_tokens, is_near, b * block / GRAFT_ROW_ABREAST_COLUMNS,
                              block / GRAFT_ROW_ABREAST_COLUMNS, inputs->pairs + b * block * (int64_t)sizeof(int16_t),
                              inputs->size, sums);
        for (int s = 0; s < n_strips; s++) {
            const graft_row_floats scales = graft_row_abreast_scales(self, row + s * apart, group);
            const graft_row_floats zeros = graft_row_abreast_zeros(self, row + s * apart, group);
            for (int t = 0; t < n_tokens; t++) {
                graft_row_floats sum = __builtin_convertvector(sums[s * n_tokens + t], graft_row_floats);
                if (stored) {
                    sum = graft_vector_add_product(sum, -zeros, graft_vector_all((float)inputs->sums[b + t * next]));
                }
                totals[s * n_tokens + t] =
                    graft_vector_add_product(totals[s * n_tokens + t], sum, scales * inputs->steps[b + t * next]);
            }
        }
        left -= block;
        group += left == 0;
        left = left == 0 ? group_size : left;
    }
}

/* [any] y of n_tokens tokens. */
GRAFT_ROW_INLINE void graft_row_abreast_some(const struct graft_coded *self, const char *from, const int strips,
                                             const int n_tokens, int64_t first, int64_t n, float *y) {
    const struct graft_row_abreast_inputs inputs = graft_row_abreast_at(self, from);
    if (graft_coded_has_zeros(self)) {
        GRAFT_ROW_ABREAST_STRIPS(self, first, n, strips, n_tokens, y,
                                 graft_row_abreast_blocks(self, &inputs, row, apart, n_strips, n_tokens, 1, 0, totals));
    } else {
        GRAFT_ROW_ABREAST_STRIPS(self, first, n, strips, n_tokens, y,
                                 graft_row_abreast_blocks(self, &inputs, row, apart, n_strips, n_tokens, 0, 0, totals));
    }
}

/* --- Many tokens --- */

/* [any] A graft_many_fill. If rows are missing, the first ones are repeated instead. */
GRAFT_ROW_INLINE void graft_row_abreast_fill(const struct graft_coded *self, const struct graft_many_shape shape,
                                             int64_t first, int64_t n, int64_t column, struct graft_many_panel *panel) {
    const int64_t size = graft_coded_group_columns(self);
    panel->stored = graft_coded_has_zeros(self);
    panel->zero = self->zero;
    for (int64_t across = 0; across < GRAFT_MANY_ACROSS; across++) {
        const int64_t row = self->first + first + (across * GRAFT_ROW_LANES < n ? across * GRAFT_ROW_LANES : 0);
        graft_row_ints *out = &panel->words[0][across];
        for (int64_t b = 0, i = column; b < panel->blocks; b++) {
            panel->scales[b][across] = graft_row_abreast_scales(self, row, i / size);
            panel->zeros[b][across] = graft_row_abreast_zeros(self, row, i / size);
            for (const int64_t end = i + panel->block; i < end; i += GRAFT_ROW_ABREAST_COLUMNS) {
                out = graft_many_spread(graft_row_abreast_word(self, row, i / GRAFT_ROW_ABREAST_COLUMNS),
                                        panel->zeros[b][across], shape, out);
            }
        }
    }
}

#endif

#endif
