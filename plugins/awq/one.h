/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token as products of f32 or integers: words are multiplied as they lie, slot by slot, and sums turned at the end
 * of a group, where loops.c would turn each word first. An output's sum is of the same products in the same order, as
 * f32 16^slot times as large meanwhile, so its bits are the same, too.
 *
 * A group of some outputs comes before the next outputs: a few vectors of words from each row, which lie side by side,
 * so that memory is read in pieces that are not too short, and few enough to keep their sums at hand.
 */
#ifndef AWQ_ONE_H
#define AWQ_ONE_H

#include "graft/packed_loops.h"

/* Slots of a word; outputs that a vector of words has; and such vectors side by side. */
enum { ONE_SLOTS = GRAFT_PACKED_CODES, ONE_OUTPUTS = GRAFT_PACKED_LANES * ONE_SLOTS, ONE_SIDE = 4 };

/* Of eight inputs, so many have another that is multiplied with them. */
enum { ONE_PAIRS = ONE_SLOTS / 2 };

/* A group's words of some outputs. */
struct awq_words {
    const int32_t *row; /* those of the first input */
    int64_t stride;     /* from row to row */
    int64_t inputs;     /* rows */
    int64_t ahead;      /* how far behind these lie those that are fetched meanwhile */
};

/* Lane c of vector k has the output of slot k in word c. */
struct awq_sums {
    graft_packed_floats of[ONE_SLOTS];
};

/* Those of n outputs in a row. */
GRAFT_PACKED_INLINE graft_packed_words one_words(const int32_t *row, const int n) {
    graft_packed_words words = {0};
    if (n == ONE_OUTPUTS) {
        return graft_packed_words_from(row);
    }
    memcpy(&words, row, (size_t)n / ONE_SLOTS * sizeof *row);
    return words;
}

/* The input that was prepared as number j of eight, as bits. */
GRAFT_PACKED_INLINE graft_packed_words one_input(const int32_t *numbers, const int j) {
    const float larger = j == ONE_SLOTS - 1 ? 1.0F : (float)(1 << 4 * (j % (ONE_SLOTS - 1)));
    return (graft_packed_words)((graft_packed_floats)graft_packed_all((uint32_t)numbers[j]) * larger);
}

/* A row of a vector of words, those of n outputs, while one further on is fetched. */
GRAFT_PACKED_INLINE graft_packed_words one_row(const struct awq_words *from, const int32_t *row, const int n) {
    __builtin_prefetch((const void *)((uintptr_t)row + (uintptr_t)from->ahead * sizeof *row), 0, 2);
    return one_words(row, n);
}

/* Eight rows. */
GRAFT_PACKED_INLINE void one_add(const struct awq_words *from, const int32_t *row, const int32_t *numbers, const int n,
                                 struct awq_sums *sums) {
    struct awq_sums mine = *sums;
    for (int j = 0; j < ONE_SLOTS; j++, row += from->stride) {
        const graft_packed_words words = one_row(from, row, n), input = one_input(numbers, j);
        for (int k = 0; k < ONE_SLOTS; k++) {
            mine.of[k] = graft_packed_add(mine.of[k], GRAFT_PACKED_EXACT,
                                          graft_packed_codes(words, GRAFT_PACKED_EXACT, k), input);
        }
    }
    *sums = mine;
}

/* The same as integers: of two inputs at once, which have pairs of slots 0 to 3 in one word, and of 4 to 7 in another.
 */
GRAFT_PACKED_INLINE void one_add_pairs(const struct awq_words *from, const int32_t *row, const int32_t *numbers,
                                       const int n, struct awq_sums *sums) {
    const int integers = GRAFT_PACKED_INTEGERS;
    struct awq_sums mine = *sums;
    for (int j = 0; j < ONE_PAIRS; j++, row += from->stride) {
        const graft_packed_words a = one_row(from, row, n), b = one_row(from, row + ONE_PAIRS * from->stride, n);
        const graft_packed_words lower = (a & 0xffff) | b << 16, upper = a >> 16 | (b & 0xffff0000);
        const graft_packed_words input = graft_packed_all((uint32_t)numbers[j]);
        for (int k = 0; k < ONE_PAIRS; k++) {
            mine.of[k] = graft_packed_add(mine.of[k], integers, graft_packed_codes(lower, integers, k), input);
        }
        for (int k = 0; k < ONE_PAIRS; k++) {
            mine.of[k + ONE_PAIRS] =
                graft_packed_add(mine.of[k + ONE_PAIRS], integers, graft_packed_codes(upper, integers, k), input);
        }
    }
    *sums = mine;
}

/* Sums in the order of outputs. */
GRAFT_PACKED_INLINE void one_turn(const struct awq_sums *sums, const int rounded, graft_packed_words *outputs) {
    static const int slots[ONE_SLOTS] = {0, 4, 1, 5, 2, 6, 3, 7}; /* of the outputs of a word */
    for (int i = 0; i < ONE_SLOTS; i++) {
        const float smaller = slots[i] == ONE_SLOTS - 1 ? 1.0F : 1.0F / (float)(1 << 4 * (slots[i] % (ONE_SLOTS - 1)));
        outputs[i] = (graft_packed_words)(rounded ? sums->of[slots[i]] : sums->of[slots[i]] * smaller);
    }
    for (int round = 1; round < ONE_SLOTS; round *= 2) {
        graft_packed_interleave(outputs, ONE_SLOTS);
    }
}

/* y += what a group's sums come to, of n outputs from `first` on. */
GRAFT_PACKED_INLINE void one_end(const struct graft_packed *self, const struct graft_packed_format format,
                                 const int rounded, const struct graft_packed_portion *portion,
                                 const struct awq_sums *of, const int n, int64_t first, float *y) {
    graft_packed_words outputs[ONE_SLOTS];
    one_turn(of, rounded, outputs);
    for (int tile = 0; tile < n / GRAFT_PACKED_TILE; tile++) {
        const int at = tile * GRAFT_PACKED_TILE;
        graft_packed_sums sums, totals;
        memcpy(sums[0], outputs + tile * GRAFT_PACKED_VECTORS, sizeof sums[0]);
        memcpy(totals[0], y + at, sizeof totals[0]);
        graft_packed_add_group(self, format, 4, rounded, portion, 1, first + at, GRAFT_PACKED_TILE, sums, totals);
        memcpy(y + at, totals[0], sizeof totals[0]);
    }
}

/* y += what a group comes to, of `side` vectors of n outputs each. */
GRAFT_PACKED_INLINE void one_side(const struct graft_packed *self, const struct graft_packed_format format,
                                  const int rounded, const struct graft_packed_portion *portion,
                                  const struct awq_words *from, const int side, const int n, int64_t first, float *y) {
    const int64_t codes = rounded ? ONE_PAIRS : ONE_SLOTS;
    const int32_t *numbers = portion->numbers;
    struct awq_sums sums[ONE_SIDE];
    memset(sums, 0, sizeof sums);
    for (int64_t input = 0; input < from->inputs; input += ONE_SLOTS, numbers += codes) {
        for (int v = 0; v < side; v++) {
            const int32_t *row = from->row + input * from->stride + (ptrdiff_t)v * GRAFT_PACKED_LANES;
            if (rounded) {
                one_add_pairs(from, row, numbers, n, &sums[v]);
            } else {
                one_add(from, row, numbers, n, &sums[v]);
            }
        }
    }
    for (int v = 0; v < side; v++) {
        one_end(self, format, rounded, portion, &sums[v], n, first + (int64_t)v * n, y + (ptrdiff_t)v * n);
    }
}

/* The same of some tokens, one after the other, while the words are in the cache. */
GRAFT_PACKED_INLINE void one_tokens(const struct graft_packed *self, const struct graft_packed_format format,
                                    const int rounded, const struct graft_packed_portion *portion, const int tokens,
                                    const struct awq_words *from, const int side, const int n, int64_t first,
                                    float *y) {
    struct graft_packed_portion of = *portion;
    for (int t = 0; t < tokens; t++, of.t++, of.numbers += of.input->codes, y += self->out_features) {
        one_side(self, format, rounded, &of, from, side, n, first, y);
    }
}

/* The same of all n outputs. While some are read, those beside them are fetched and, at the end, the first of the next
 * group. */
GRAFT_PACKED_INLINE void one_group(const struct graft_packed *self, const struct graft_packed_format format,
                                   const int rounded, const struct graft_packed_portion *portion, const int tokens,
                                   int64_t inputs, int64_t first, int64_t n, float *y) {
    const int64_t stride = self->out_features / ONE_SLOTS, wide = (int64_t)ONE_SIDE * ONE_OUTPUTS;
    const int32_t *words = self->words + portion->step * ONE_SLOTS * stride + first / ONE_SLOTS;
    struct awq_words from = {words, stride, inputs, 0};
    for (int64_t o = 0, done = 0; o < n; o += done) {
        const int64_t left = n - o;
        done = left >= wide ? wide : left >= ONE_OUTPUTS ? ONE_OUTPUTS : GRAFT_PACKED_STRIP;
        from.row = words + o / ONE_SLOTS;
        from.ahead = left > done ? done / ONE_SLOTS : inputs * stride - o / ONE_SLOTS;
        if (done == wide) {
            one_tokens(self, format, rounded, portion, tokens, &from, ONE_SIDE, ONE_OUTPUTS, first + o, y + o);
        } else if (done == ONE_OUTPUTS) {
            one_tokens(self, format, rounded, portion, tokens, &from, 1, ONE_OUTPUTS, first + o, y + o);
        } else {
            one_tokens(self, format, rounded, portion, tokens, &from, 1, GRAFT_PACKED_STRIP, first + o, y + o);
        }
    }
}

/* graft_packed_format.one. */
GRAFT_PACKED_INLINE void one(const struct graft_packed *self, const struct graft_packed_format format, const int bits,
                             const int rounded, const struct graft_packed_input *input, int64_t t, const int tokens,
                             int64_t first, int64_t n, float *y) {
    struct graft_packed_portion portion = {input, t, input->numbers + t * input->codes, 0, 0, 1, 1};
    (void)bits; /* there are 4 */
    for (int k = 0; k < tokens; k++) {
        memset(y + k * self->out_features, 0, (size_t)n * sizeof *y);
    }
    for (; portion.group < self->groups; portion.group++) {
        const int64_t end = graft_packed_left(self->in_features, 0, (portion.group + 1) * self->group_size);
        const int64_t inputs = end - portion.step * ONE_SLOTS;
        one_group(self, format, rounded, &portion, tokens, inputs, first, n, y);
        portion.numbers += rounded ? inputs / 2 : inputs;
        portion.step = end / ONE_SLOTS;
    }
}

#endif
