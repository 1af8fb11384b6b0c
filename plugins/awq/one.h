/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token with AVX2: words are multiplied as they lie, slot by slot, and sums turned at the end of a group, where
 * loops.c would turn each word first. An output's sum is of the same products in the same order, 16^slot times as large
 * meanwhile, so its bits are the same, too.
 */
#ifndef AWQ_ONE_H
#define AWQ_ONE_H

#include "graft/packed_loops.h"

/* A strip is a vector of words in each row of them. */
enum { ONE_SLOTS = GRAFT_PACKED_CODES, ONE_MOST = GRAFT_PACKED_STRIPS };

/* Sums of a strip: lane c of vector k has the output of slot k in word c. */
struct awq_strip {
    graft_packed_floats sums[ONE_SLOTS];
};

/* The input that was prepared as number j of eight, as bits. */
GRAFT_PACKED_INLINE graft_packed_words one_input(const int32_t *numbers, const int j) {
    const float larger = j == ONE_SLOTS - 1 ? 1.0F : (float)(1 << 4 * (j % (ONE_SLOTS - 1)));
    return (graft_packed_words)((graft_packed_floats)graft_packed_all((uint32_t)numbers[j]) * larger);
}

/* Eight rows of a strip, while those of the step after next are fetched. */
GRAFT_PACKED_INLINE void one_add(const int32_t *rows, int64_t stride, const int32_t *numbers, struct awq_strip *strip) {
    struct awq_strip mine = *strip;
    for (int j = 0; j < ONE_SLOTS; j++) {
        const graft_packed_words words = graft_packed_words_from(rows + j * stride);
        const graft_packed_words input = one_input(numbers, j);
        __builtin_prefetch((const void *)((uintptr_t)(rows + (j + 2 * ONE_SLOTS) * stride)), 0, 2);
        for (int k = 0; k < ONE_SLOTS; k++) {
            mine.sums[k] = graft_packed_add(mine.sums[k], 0, graft_packed_codes(words, 0, k), input);
        }
    }
    *strip = mine;
}

/* Sums in the order of outputs. */
GRAFT_PACKED_INLINE void one_turn(const struct awq_strip *strip, graft_packed_words *outputs) {
    static const int slots[ONE_SLOTS] = {0, 4, 1, 5, 2, 6, 3, 7}; /* of the outputs of a word */
    for (int i = 0; i < ONE_SLOTS; i++) {
        const float smaller = slots[i] == ONE_SLOTS - 1 ? 1.0F : 1.0F / (float)(1 << 4 * (slots[i] % (ONE_SLOTS - 1)));
        outputs[i] = (graft_packed_words)(strip->sums[slots[i]] * smaller);
    }
    for (int round = 1; round < ONE_SLOTS; round *= 2) {
        graft_packed_interleave(outputs, ONE_SLOTS);
    }
}

/* y += what a group's sums come to. */
GRAFT_PACKED_INLINE void one_end(const struct graft_packed *self, const struct graft_packed_format format,
                                 const struct graft_packed_portion *portion, const struct awq_strip *strip,
                                 int64_t first, float *y) {
    graft_packed_words outputs[ONE_SLOTS];
    one_turn(strip, outputs);
    for (int half = 0; half < 2; half++) {
        graft_packed_sums sums, totals;
        memcpy(sums[0], outputs + half * GRAFT_PACKED_VECTORS, sizeof sums[0]);
        memcpy(totals[0], y + half * GRAFT_PACKED_TILE, sizeof totals[0]);
        graft_packed_add_group(self, format, 0.0F, portion, 1, first + half * (int64_t)GRAFT_PACKED_TILE,
                               GRAFT_PACKED_TILE, sums, totals);
        memcpy(y + half * GRAFT_PACKED_TILE, totals[0], sizeof totals[0]);
    }
}

/* y of up to ONE_MOST strips, side by side: a row's words are read in one run. */
GRAFT_PACKED_INLINE void one_strips(const struct graft_packed *self, const struct graft_packed_format format,
                                    const struct graft_packed_input *input, int64_t t, int64_t first, int64_t strips,
                                    float *y) {
    const int64_t stride = self->out_features / ONE_SLOTS;
    struct graft_packed_portion portion = {input, t, input->numbers + t * input->codes, 0, 0, 1, 1};
    struct awq_strip at[ONE_MOST];
    memset(y, 0, (size_t)strips * GRAFT_PACKED_STRIP * sizeof *y);
    for (; portion.group < self->groups; portion.group++) {
        const int64_t end = graft_packed_left(self->in_features, 0, (portion.group + 1) * self->group_size);
        memset(at, 0, (size_t)strips * sizeof at[0]);
        for (; portion.step * ONE_SLOTS < end; portion.step++, portion.numbers += ONE_SLOTS) {
            const int32_t *rows = self->words + portion.step * ONE_SLOTS * stride + first / ONE_SLOTS;
            for (int64_t s = 0; s < strips; s++) {
                one_add(rows + s * ONE_SLOTS, stride, portion.numbers, &at[s]);
            }
        }
        for (int64_t s = 0; s < strips; s++) {
            const int64_t output = s * GRAFT_PACKED_STRIP;
            one_end(self, format, &portion, &at[s], first + output, y + output);
        }
    }
}

/* graft_packed_format.one. */
GRAFT_PACKED_INLINE void one(const struct graft_packed *self, const struct graft_packed_format format, const int bits,
                             const int rounded, const struct graft_packed_input *input, int64_t t, int64_t first,
                             int64_t n, float *y) {
    const int64_t most = (int64_t)ONE_MOST * GRAFT_PACKED_STRIP;
    (void)bits;
    (void)rounded; /* there are 4, and products of f32 */
    for (int64_t o = 0; o < n; o += most) {
        one_strips(self, format, input, t, first + o, graft_packed_left(n, o, most) / GRAFT_PACKED_STRIP, y + o);
    }
}

#endif
