/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of packed.h, for a format that says how to unpack. To be included by a file that is compiled once for each
 * instruction set.
 *
 * That file defines a graft_packed_unpack and a graft_packed_unpack_zeros, and with them, by GRAFT_PACKED_LOOPS, its
 * table. A sum goes over groups, and the inputs in each, in their order: nothing depends on the number of tokens or
 * threads.
 */
#ifndef GRAFT_PACKED_LOOPS_H
#define GRAFT_PACKED_LOOPS_H

#include "packed.h"
#include "packed_vectors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of 4 bits in a word. */
#define GRAFT_PACKED_CODES 8

/* Numbers of bf16 in a cache line. */
#define GRAFT_PACKED_LINE 32

/* [any] Word `step` of outputs [first, first + n), n at most GRAFT_PACKED_TILE and constant where that is a whole tile:
 * in each lane the codes of inputs step * 32 / bits and following of an output, the first in the lowest bits. Lanes
 * behind n are anything. */
typedef void (*graft_packed_unpack)(const struct graft_packed *self, int64_t step, int64_t first, int64_t n,
                                    graft_packed_words words[GRAFT_PACKED_VECTORS]);

/* [any] The zero points of a group, as they are stored: one in each lane. */
typedef void (*graft_packed_unpack_zeros)(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                          graft_packed_words codes[GRAFT_PACKED_VECTORS]);

/* [any] Codes k and k + 4 of word `step` of outputs as above, as pairs of bf16: 128 too large (GRAFT_PACKED_ABOVE), k
 * in the lower half of a lane. */
typedef void (*graft_packed_unpack_pairs)(const struct graft_packed *self, int64_t step, int k, int64_t first,
                                          int64_t n, graft_packed_words numbers[GRAFT_PACKED_VECTORS]);

/* What a format defines. */
struct graft_packed_format {
    graft_packed_unpack unpack;             /* of weights */
    graft_packed_unpack_zeros unpack_zeros; /* of zero points */
    int64_t
        steps; /* words of each output that are added while its sum is in registers: 1, or 2 if unpacking is short */
    graft_packed_unpack_pairs pairs; /* where that takes less than by way of words; NULL: by way of words */
};

/* [any] For formats: `n` words, of which the last vectors may lack some. */
GRAFT_PACKED_INLINE void graft_packed_load(const int32_t *from, int64_t n,
                                           graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    int32_t rest[GRAFT_PACKED_TILE];
    if (n < GRAFT_PACKED_TILE) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, from, (size_t)n * sizeof *from);
        from = rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        words[v] = graft_packed_words_from(from + (ptrdiff_t)v * GRAFT_PACKED_LANES);
    }
}

/* [any] For formats: codes of `n` outputs that lie along outputs, `words` being those from the first output on. `bits`
 * is a constant; `shifts` [16] says how far up in its word the code of each output is. */
GRAFT_PACKED_INLINE void graft_packed_across(const int32_t *words, const int bits, const uint32_t *shifts, int64_t n,
                                             graft_packed_words codes[GRAFT_PACKED_VECTORS]) {
    const int slots = 32 / bits, words_of_vector = GRAFT_PACKED_LANES > slots ? GRAFT_PACKED_LANES / slots : 1;
    int32_t rest[GRAFT_PACKED_TILE];
    if (n < GRAFT_PACKED_TILE) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, words, (size_t)(n / slots) * sizeof *words);
        words = rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        const int output = v * GRAFT_PACKED_LANES;
        const graft_packed_words by = graft_packed_words_from(shifts + output % slots);
        codes[v] = (graft_packed_repeat(words + output / slots, words_of_vector) >> by) & ((1U << bits) - 1);
    }
}

/* A group's scales and zero points, both as f32. */
struct graft_packed_group {
    graft_packed_floats scales[GRAFT_PACKED_VECTORS]; /* of the outputs */
    graft_packed_floats zeros[GRAFT_PACKED_VECTORS];  /* with what is to be added to them */
};

GRAFT_ASSERT_SIZE(struct graft_packed_format, 32);
GRAFT_ASSERT_SIZE(struct graft_packed_group, 32 * GRAFT_PACKED_LANES);

/* [any] Fills in a group, for outputs [first, first + n). */
GRAFT_PACKED_INLINE void graft_packed_group_at(const struct graft_packed *self, const struct graft_packed_format format,
                                               int64_t group, int64_t first, int64_t n, struct graft_packed_group *at) {
    graft_packed_words codes[GRAFT_PACKED_VECTORS];
    graft_packed_scales(self->scales, group * self->out_features + first, n, at->scales);
    format.unpack_zeros(self, group, first, n, codes);
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        at->zeros[v] = graft_packed_convert(codes[v] + (uint32_t)self->zero_offset);
    }
}

/* --- The input ---------------------------------------------------------------------------------------------------- */

/* The inputs of a word. */
typedef float graft_packed_eight __attribute__((vector_size(32)));
/* The same, as bits. */
typedef uint32_t graft_packed_eight_words __attribute__((vector_size(32)));

/* [any] What the codes of one word are multiplied by: a code of 8 bits is two. */
GRAFT_PACKED_INLINE void graft_packed_read_inputs(const float *x, const int bits, const int rounded,
                                                  graft_packed_eight *inputs) {
    graft_packed_eight numbers = {0};
    graft_packed_eight_words words;
    if (bits == 4) {
        memcpy(&numbers, x, sizeof numbers);
    } else {
        for (int k = 0; k < GRAFT_PACKED_CODES; k++) {
            numbers[k] = x[k / 2];
        }
    }
    if (rounded) {
        words = (graft_packed_eight_words)numbers;
        numbers = (graft_packed_eight)((words + 0x7fff + ((words >> 16) & 1)) & 0xffff0000);
    }
    *inputs = numbers;
}

/*
 * [any] Writes them as graft_packed_add_word wants them.
 *
 * Codes are not moved to the lowest bits before they are converted to f32: code k of a word counts 16^k times and its
 * input 16^-k times, which loses nothing. Only the last, where the sign would be, is moved. For bf16 two codes are done
 * at once: code k in the lower half of a lane and k + 4 in the upper.
 */
GRAFT_PACKED_INLINE void graft_packed_write_inputs(const graft_packed_eight *inputs, const int bits, const int rounded,
                                                   int32_t *out) {
    const graft_packed_eight halves = {1, 16, 1, 16, 1, 16, 1, 16};
    const graft_packed_eight places = {
        1, 1 / 16.0F, 1 / 256.0F, 1 / 4096.0F, 1 / 65536.0F, 1 / 1048576.0F, 1 / 16777216.0F, 1};
    graft_packed_eight numbers = *inputs;
    uint32_t words[GRAFT_PACKED_CODES];
    numbers *= bits == 8 ? halves : halves / halves;
    numbers *= rounded ? places / places : places;
    memcpy(words, &numbers, sizeof words);
    for (int k = 0; rounded && k < GRAFT_PACKED_CODES / 2; k++) {
        words[k] = words[k] >> 16 | words[k + GRAFT_PACKED_CODES / 2];
    }
    memcpy(out, words, rounded ? sizeof words / 2 : sizeof words);
}

/* [any] graft_packed_arithmetic.prepare. */
GRAFT_PACKED_INLINE void graft_packed_prepare_row(const struct graft_packed *self, const int bits, const int rounded,
                                                  const float *x, struct graft_packed_input *input, int64_t t) {
    const int64_t slots = 32 / bits;
    int32_t *out = input->numbers + t * input->codes;
    float *sums = input->sums + t * self->groups;
    memset(sums, 0, (size_t)self->groups * sizeof *sums);
    for (int64_t i = 0; i < self->in_features && graft_packed_is_scattered(self); i++) {
        sums[graft_packed_group_of(self, i)] += x[i];
    }
    for (int64_t i = 0, g = 0; i < self->in_features; g++) {
        graft_packed_eight parts = {0};
        int64_t end = graft_packed_is_scattered(self) ? self->in_features
                                                      : i + graft_packed_left(self->in_features, i, self->group_size);
        for (; i < end; i += slots, out += rounded ? GRAFT_PACKED_CODES / 2 : GRAFT_PACKED_CODES) {
            graft_packed_eight numbers;
            graft_packed_read_inputs(x + i, bits, rounded, &numbers);
            graft_packed_write_inputs(&numbers, bits, rounded, out);
            parts += numbers;
        }
        for (int k = 0; k < GRAFT_PACKED_CODES && !graft_packed_is_scattered(self); k++) {
            sums[g] += parts[k] * (bits == 8 ? 0.5F : 1.0F);
        }
    }
}

/* --- Few tokens --------------------------------------------------------------------------------------------------- */

/* Tiles that are done together at most; and what codes are too large by as bf16: 128 + c is the bf16 whose lowest
 * bits are the code c. */
#define GRAFT_PACKED_TILES (1024 / GRAFT_PACKED_TILE)
#define GRAFT_PACKED_ABOVE 128

/* The sums of some tokens. */
typedef graft_packed_floats graft_packed_sums[GRAFT_PACKED_TILE_TOKENS][GRAFT_PACKED_VECTORS];

/* [any] Code k of a word as f32, 16^k times as large where it is not the last, or codes k and k + 4 as bf16. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_codes(graft_packed_words word, const int rounded, int k) {
    if (rounded) {
        return ((word >> 4 * k) & 0x000f000f) | 0x43004300;
    }
    return (graft_packed_words)graft_packed_convert(k == GRAFT_PACKED_CODES - 1 ? word >> 28 : word & (15U << 4 * k));
}

/* [any] sum + a * b, of f32 or of pairs of bf16. */
GRAFT_PACKED_INLINE graft_packed_floats graft_packed_add(graft_packed_floats sum, const int rounded,
                                                         graft_packed_words a, graft_packed_words b) {
#if defined(__AVX512BF16__)
    if (rounded) {
        return (graft_packed_floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
    }
#endif
    (void)rounded;
    return sum + (graft_packed_floats)a * (graft_packed_floats)b;
}

/* [any] Adds the products of the codes of `steps` words of each output with `tokens` inputs, `stride` apart. */
GRAFT_PACKED_INLINE void graft_packed_add_words(const struct graft_packed *self,
                                                const struct graft_packed_format format, const int rounded,
                                                const int32_t *inputs, int64_t stride, const int tokens, int64_t step,
                                                const int64_t steps, int64_t first, int64_t n, graft_packed_sums sums) {
    const int codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1);
    for (int64_t s = 0; s < steps; s++) {
        graft_packed_words words[GRAFT_PACKED_VECTORS], numbers[GRAFT_PACKED_VECTORS];
        const int by_words = !rounded || format.pairs == NULL;
        if (by_words) {
            format.unpack(self, step + s, first, n, words);
        }
        for (int k = 0; k < codes; k++) {
            if (!by_words) {
                format.pairs(self, step + s, k, first, n, numbers);
            }
            for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
                const graft_packed_words number = by_words ? graft_packed_codes(words[v], rounded, k) : numbers[v];
                for (int t = 0; t < tokens; t++) {
                    graft_packed_words factors = graft_packed_all((uint32_t)inputs[t * stride + s * codes + k]);
                    sums[t][v] = graft_packed_add(sums[t][v], rounded, number, factors);
                }
            }
        }
    }
}

/* Some steps of a group, and the tokens that they are done for. */
struct graft_packed_portion {
    const struct graft_packed_input *input; /* as prepared */
    int64_t t;                              /* the first token */
    const int32_t *numbers;                 /* its inputs, those of `step` first */
    int64_t group;                          /* what the steps belong to */
    int64_t step;                           /* the first of them */
    int32_t begins;                         /* whether it is the group's first */
    int32_t ends;                           /* whether the group has no more */
};

GRAFT_ASSERT_SIZE(struct graft_packed_portion, 48);

/* [any] totals += what a group's sums come to, for outputs [first, first + n): with sum(x) of the group, and what codes
 * are too large by. */
GRAFT_PACKED_INLINE void graft_packed_add_group(const struct graft_packed *self,
                                                const struct graft_packed_format format, const float above,
                                                const struct graft_packed_portion *portion, const int tokens,
                                                int64_t first, int64_t n, graft_packed_sums sums,
                                                graft_packed_sums totals) {
    struct graft_packed_group at;
    graft_packed_group_at(self, format, portion->group, first, n, &at);
    for (int k = 0; k < tokens; k++) {
        const float x = portion->input->sums[(portion->t + k) * self->groups + portion->group];
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            totals[k][v] += at.scales[v] * (sums[k][v] - (at.zeros[v] + above) * x);
        }
    }
}

/* [any] One by one, so that the compiler keeps them in registers. */
GRAFT_PACKED_INLINE void graft_packed_copy(graft_packed_sums to, graft_packed_sums from, const int tokens) {
    for (int k = 0; k < tokens; k++) {
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            to[k][v] = from[k][v];
        }
    }
}

/* [any] A portion of `steps` steps, for a tile; `sums` are kept in memory from one portion of a group to the next.
 * `steps` and `tokens` are constants. */
GRAFT_PACKED_INLINE void graft_packed_add_portion(const struct graft_packed *self,
                                                  const struct graft_packed_format format, const int bits,
                                                  const int rounded, const struct graft_packed_portion *portion,
                                                  const int64_t steps, const int tokens, int64_t first, int64_t n,
                                                  graft_packed_sums sums, graft_packed_sums totals) {
    const float above = !rounded ? 0.0F : bits == 8 ? GRAFT_PACKED_ABOVE * 17.0F : (float)GRAFT_PACKED_ABOVE;
    graft_packed_sums mine = {{{0}}};
    if (!portion->begins) {
        graft_packed_copy(mine, sums, tokens);
    }
    graft_packed_add_words(self, format, rounded, portion->numbers, portion->input->codes, tokens, portion->step, steps,
                           first, n, mine);
    if (portion->ends) {
        graft_packed_add_group(self, format, above, portion, tokens, first, n, mine, totals);
    } else {
        graft_packed_copy(sums, mine, tokens);
    }
}

/* [any] y of up to GRAFT_PACKED_TILES tiles, n outputs of each: of a group sum(q x) * scale - sum(x) * zero * scale,
 * which takes few operations for each weight. Words that lie side by side come first: the processor fetches runs ahead
 * by itself, and many more lines at once than it is asked for. `tokens` is a constant. */
GRAFT_PACKED_INLINE void graft_packed_multiply_tiles(const struct graft_packed *self,
                                                     const struct graft_packed_format format, const int bits,
                                                     const int rounded, const struct graft_packed_input *input,
                                                     int64_t t, const int tokens, int64_t first, int64_t n,
                                                     int64_t tiles, float *y) {
    const int64_t slots = 32 / bits, codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1), all = self->in_features / slots;
    struct graft_packed_portion portion = {input, t, input->numbers + t * input->codes, 0, 0, 1, 0};
    graft_packed_sums totals[GRAFT_PACKED_TILES], sums[GRAFT_PACKED_TILES];
    memset(totals, 0, (size_t)tiles * sizeof totals[0]);
    while (portion.step < all) {
        const int64_t end = graft_packed_left(all, 0, (portion.group + 1) * self->group_size / slots);
        const int64_t steps = graft_packed_left(end, portion.step, format.steps);
        portion.ends = portion.step + steps == end;
        for (int64_t tile = 0; tile < tiles; tile++) {
            const int64_t output = first + tile * GRAFT_PACKED_TILE;
            if (format.steps == 1 || steps == format.steps) {
                graft_packed_add_portion(self, format, bits, rounded, &portion, format.steps, tokens, output, n,
                                         sums[tile], totals[tile]);
            } else {
                graft_packed_add_portion(self, format, bits, rounded, &portion, 1, tokens, output, n, sums[tile],
                                         totals[tile]);
            }
        }
        portion.begins = portion.ends;
        portion.group += portion.ends;
        portion.step += steps;
        portion.numbers += steps * codes;
    }
    for (int64_t tile = 0; tile < tiles; tile++) {
        for (int k = 0; k < tokens; k++) {
            memcpy(y + k * self->out_features + tile * GRAFT_PACKED_TILE, totals[tile][k], (size_t)n * sizeof *y);
        }
    }
}

/* [any] The same of one token where inputs of a word are of several groups: each group has its sums in memory. */
GRAFT_PACKED_INLINE void graft_packed_multiply_scattered(const struct graft_packed *self,
                                                         const struct graft_packed_format format, const int bits,
                                                         const struct graft_packed_input *input, int64_t t,
                                                         int64_t first, int64_t n, float *y) {
    const int64_t slots = 32 / bits;
    const int32_t *inputs = input->numbers + t * input->codes;
    graft_packed_floats totals[GRAFT_PACKED_VECTORS] = {{0}};
    float *sums = input->scattered + first / GRAFT_PACKED_STRIP * self->groups * GRAFT_PACKED_STRIP;
    memset(sums, 0, (size_t)(self->groups * GRAFT_PACKED_TILE) * sizeof *sums);
    for (int64_t step = 0; step * slots < self->in_features; step++, inputs += GRAFT_PACKED_CODES) {
        graft_packed_words words[GRAFT_PACKED_VECTORS];
        format.unpack(self, step, first, n, words);
        for (int k = 0; k < GRAFT_PACKED_CODES; k++) {
            float *mine =
                sums + graft_packed_group_of(self, step * slots + k * slots / GRAFT_PACKED_CODES) * GRAFT_PACKED_TILE;
            for (int v = 0; v < GRAFT_PACKED_VECTORS; v++, mine += GRAFT_PACKED_LANES) {
                graft_packed_floats sum;
                memcpy(&sum, mine, sizeof sum);
                sum =
                    graft_packed_add(sum, 0, graft_packed_codes(words[v], 0, k), graft_packed_all((uint32_t)inputs[k]));
                memcpy(mine, &sum, sizeof sum);
            }
        }
    }
    for (int64_t group = 0; group < self->groups; group++) {
        struct graft_packed_group at;
        graft_packed_group_at(self, format, group, first, n, &at);
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            graft_packed_floats sum;
            memcpy(&sum, sums + group * GRAFT_PACKED_TILE + v * GRAFT_PACKED_LANES, sizeof sum);
            totals[v] += at.scales[v] * (sum - at.zeros[v] * input->sums[t * self->groups + group]);
        }
    }
    memcpy(y, totals, (size_t)n * sizeof *y);
}

/* [any] Tiles of any number of tokens: constants where they matter. */
GRAFT_PACKED_INLINE void graft_packed_multiply_tokens(const struct graft_packed *self,
                                                      const struct graft_packed_format format, const int bits,
                                                      const int rounded, const struct graft_packed_input *input,
                                                      int64_t t, int64_t tokens, int64_t first, int64_t n,
                                                      int64_t tiles, float *y) {
    for (int64_t k = 0; !rounded && k < tokens && graft_packed_is_scattered(self); k++) {
        for (int64_t tile = 0; tile < tiles; tile++) {
            graft_packed_multiply_scattered(self, format, bits, input, t + k, first + tile * GRAFT_PACKED_TILE, n,
                                            y + k * self->out_features + tile * GRAFT_PACKED_TILE);
        }
    }
    if (!rounded && graft_packed_is_scattered(self)) { /* which is never rounded */
        return;
    }
    if (n == GRAFT_PACKED_TILE && tokens == GRAFT_PACKED_TILE_TOKENS) {
        graft_packed_multiply_tiles(self, format, bits, rounded, input, t, GRAFT_PACKED_TILE_TOKENS, first, n, tiles,
                                    y);
        return;
    }
    for (int64_t k = 0; k < tokens; k++) {
        graft_packed_multiply_tiles(self, format, bits, rounded, input, t + k, 1, first, n, tiles,
                                    y + k * self->out_features);
    }
}

/* --- Many tokens -------------------------------------------------------------------------------------------------- */

/* [any] The weights of one word's inputs: [slots][GRAFT_PACKED_VECTORS]. `at` is the group of the last input, `group`
 * its number. */
GRAFT_PACKED_INLINE void graft_packed_widen_word(const struct graft_packed *self,
                                                 const struct graft_packed_format format, const int bits, int64_t step,
                                                 int64_t first, int64_t n, int64_t *group,
                                                 struct graft_packed_group *at,
                                                 graft_packed_floats weights[][GRAFT_PACKED_VECTORS]) {
    const int slots = 32 / bits;
    graft_packed_words words[GRAFT_PACKED_VECTORS];
    format.unpack(self, step, first, n, words);
    for (int k = 0; k < slots; k++) {
        if (k == 0 || graft_packed_is_scattered(self)) {
            int64_t next = graft_packed_group_of(self, step * slots + k);
            if (next != *group) {
                graft_packed_group_at(self, format, next, first, n, at);
                *group = next;
            }
        }
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            graft_packed_words codes = (words[v] >> bits * k) & ((1U << bits) - 1);
            weights[k][v] = at->scales[v] * (graft_packed_convert(codes) - at->zeros[v]);
        }
    }
}

/* [any] Copies the weights of one word's inputs to their rows, `stride` numbers of 32 bits apart; for `rounded` two of
 * them are one such number. */
GRAFT_PACKED_INLINE void graft_packed_turn(graft_packed_floats weights[][GRAFT_PACKED_VECTORS], const int slots,
                                           const int rounded, int64_t stride, uint32_t *rows) {
    const int count = rounded ? slots / 2 : slots;
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        graft_packed_words columns[GRAFT_PACKED_CODES]; /* [count], a lane for each row */
        uint32_t numbers[GRAFT_PACKED_CODES * GRAFT_PACKED_LANES];
        for (int k = 0; k < count; k++) {
            columns[k] = rounded ? graft_packed_round(weights[2 * k][v]) >> 16 |
                                       (graft_packed_round(weights[2 * k + 1][v]) & 0xffff0000)
                                 : (graft_packed_words)weights[k][v];
        }
        for (int left = count; left > 1; left /= 2) {
            graft_packed_interleave(columns, count);
        }
        memcpy(numbers, columns, (size_t)count * sizeof columns[0]);
        for (int l = 0; l < GRAFT_PACKED_LANES; l++) {
            memcpy(rows + (v * GRAFT_PACKED_LANES + l) * stride, numbers + (ptrdiff_t)l * count,
                   (size_t)count * sizeof *rows);
        }
    }
}

/* [any] Rows of W: exact in f32, as a difference of codes times a scale of 16 bits has at most 20 digits. The rows are
 * far apart, often a multiple of 4096 bytes, so whole cache lines are written. */
GRAFT_PACKED_INLINE void graft_packed_widen_tile(const struct graft_packed *self,
                                                 const struct graft_packed_format format, const int bits,
                                                 const int rounded, int64_t first, int64_t n, char *out) {
    enum { STEPS = 4 };
    const int slots = 32 / bits, count = rounded ? slots / 2 : slots;
    const int64_t steps = self->in_features / slots, row_bytes = steps * count * (int64_t)sizeof(uint32_t);
    uint32_t rows[GRAFT_PACKED_TILE * GRAFT_PACKED_CODES * STEPS];
    struct graft_packed_group at;
    int64_t group = graft_packed_group_of(self, 0);
    graft_packed_group_at(self, format, group, first, n, &at);
    for (int64_t step = 0; step < steps; step += STEPS) {
        const int64_t some = graft_packed_left(steps, step, STEPS);
        for (int64_t s = 0; s < some; s++) {
            graft_packed_floats weights[GRAFT_PACKED_CODES][GRAFT_PACKED_VECTORS];
            graft_packed_widen_word(self, format, bits, step + s, first, n, &group, &at, weights);
            graft_packed_turn(weights, slots, rounded, (int64_t)STEPS * count, rows + s * count);
        }
        for (int64_t row = 0; row < n; row++) {
            const size_t bytes = (size_t)count * sizeof *rows;
            void *to = out + row * row_bytes + step * (int64_t)bytes;
            memcpy(to, rows + row * STEPS * count, some == STEPS ? STEPS * bytes : (size_t)some * bytes);
        }
    }
}

#if defined(__AVX512BF16__)

/* [any] Sixteen vectors of sixteen words become the lines of their lanes. */
GRAFT_PACKED_INLINE void graft_packed_transpose(__m512i lines[16]) {
    __m512i turned[16];
    for (int i = 0; i < 16; i += 2) {
        turned[i] = _mm512_unpacklo_epi32(lines[i], lines[i + 1]);
        turned[i + 1] = _mm512_unpackhi_epi32(lines[i], lines[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        lines[i] = _mm512_unpacklo_epi64(turned[i], turned[i + 2]);
        lines[i + 1] = _mm512_unpackhi_epi64(turned[i], turned[i + 2]);
        lines[i + 2] = _mm512_unpacklo_epi64(turned[i + 1], turned[i + 3]);
        lines[i + 3] = _mm512_unpackhi_epi64(turned[i + 1], turned[i + 3]);
    }
    for (int i = 0; i < 16; i += 8) {
        for (int k = 0; k < 4; k++) {
            turned[i + k] = _mm512_shuffle_i32x4(lines[i + k], lines[i + 4 + k], 0x88);
            turned[i + 4 + k] = _mm512_shuffle_i32x4(lines[i + k], lines[i + 4 + k], 0xdd);
        }
    }
    for (int k = 0; k < 4; k++) {
        lines[k] = _mm512_shuffle_i32x4(turned[k], turned[8 + k], 0x88);
        lines[4 + k] = _mm512_shuffle_i32x4(turned[4 + k], turned[12 + k], 0x88);
        lines[8 + k] = _mm512_shuffle_i32x4(turned[k], turned[8 + k], 0xdd);
        lines[12 + k] = _mm512_shuffle_i32x4(turned[4 + k], turned[12 + k], 0xdd);
    }
}

/* [any] Codes k and k + 1 of a vector of words as pairs of bf16, to the nearest; denormals become 0, as the products
 * take them. A code in the lowest bits of the f32 2^23 is that much more. */
GRAFT_PACKED_INLINE __m512i graft_packed_weights_of(graft_packed_words words, int k, graft_packed_floats scales,
                                                    graft_packed_floats zeros) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i order = _mm512_or_si512(lanes, _mm512_slli_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(16)), 16));
    graft_packed_floats weights[2];
    for (int i = 0; i < 2; i++) {
        const graft_packed_words large = ((words >> 4 * (k + i)) & 15) | 0x4b000000;
        weights[i] = scales * ((graft_packed_floats)large - (8388608.0F + zeros));
    }
    return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh((__m512)weights[1], (__m512)weights[0]));
}

/* [any] As graft_packed_widen_tile: a whole tile of codes of 4 bits in order as bf16, a cache line of each row at a
 * time.
 */
GRAFT_PACKED_INLINE void graft_packed_widen_lines(const struct graft_packed *self,
                                                  const struct graft_packed_format format, int64_t first, char *out) {
    enum { STEPS = 4 };
    const int64_t steps = self->in_features / GRAFT_PACKED_CODES, row_bytes = self->in_features * 2;
    struct graft_packed_group at[STEPS];
    for (int64_t step = 0; step < steps; step += STEPS) {
        graft_packed_words words[STEPS][GRAFT_PACKED_VECTORS];
        for (int s = 0; s < STEPS; s++) {
            graft_packed_group_at(self, format, graft_packed_group_of(self, (step + s) * GRAFT_PACKED_CODES), first,
                                  GRAFT_PACKED_TILE, &at[s]);
            format.unpack(self, step + s, first, GRAFT_PACKED_TILE, words[s]);
        }
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            __m512i lines[GRAFT_PACKED_LANES];
            for (int s = 0; s < STEPS; s++) {
                for (int k = 0; k < GRAFT_PACKED_CODES / 2; k++) {
                    lines[s * STEPS + k] = graft_packed_weights_of(words[s][v], 2 * k, at[s].scales[v], at[s].zeros[v]);
                }
            }
            graft_packed_transpose(lines);
            for (int l = 0; l < GRAFT_PACKED_LANES; l++) {
                _mm512_storeu_si512(out + (v * GRAFT_PACKED_LANES + l) * row_bytes + step * 16, lines[l]);
            }
        }
    }
}

#endif

/* --- A format's table --------------------------------------------------------------------------------------------- */

/* The table `name_` of a format, by the target. */
#if defined(__AVX512BF16__)
#define GRAFT_PACKED_ISA "avx512_bf16"
#define GRAFT_PACKED_TABLE(format) format##_loops_avx512_bf16
#elif defined(__AVX512F__)
#define GRAFT_PACKED_ISA "avx512"
#define GRAFT_PACKED_TABLE(format) format##_loops_avx512
#elif defined(__AVX2__)
#define GRAFT_PACKED_ISA "avx2"
#define GRAFT_PACKED_TABLE(format) format##_loops_avx2
#else
#define GRAFT_PACKED_ISA "scalar"
#define GRAFT_PACKED_TABLE(format) format##_loops_scalar
#endif

/* [any] graft_packed_arithmetic.multiply: whole tiles, and what is left of one. */
GRAFT_PACKED_INLINE void graft_packed_multiply_any(const struct graft_packed *self,
                                                   const struct graft_packed_format format, const int bits,
                                                   const int rounded, const struct graft_packed_input *input, int64_t t,
                                                   int64_t tokens, int64_t first, int64_t n, float *y) {
    const int64_t tile = GRAFT_PACKED_TILE, whole = n / tile * tile;
    const struct graft_packed_format short_steps = {format.unpack, format.unpack_zeros, 1, format.pairs};
    for (int64_t o = 0; o < whole; o += tile * GRAFT_PACKED_TILES) {
        graft_packed_multiply_tokens(self, format, bits, rounded, input, t, tokens, first + o, GRAFT_PACKED_TILE,
                                     graft_packed_left(whole, o, tile * GRAFT_PACKED_TILES) / tile, y + o);
    }
    if (whole < n) {
        graft_packed_multiply_tokens(self, short_steps, bits, rounded, input, t, tokens, first + whole, n - whole, 1,
                                     y + whole);
    }
}

/* [any] graft_packed_arithmetic.widen. */
GRAFT_PACKED_INLINE void graft_packed_widen_any(const struct graft_packed *self,
                                                const struct graft_packed_format format, const int bits,
                                                const int rounded, int64_t first, int64_t n, char *out) {
    const int64_t row_bytes = self->in_features * (rounded ? 2 : 4);
    for (int64_t o = 0; o < n; o += GRAFT_PACKED_TILE) {
#if defined(__AVX512BF16__)
        if (rounded && bits == 4 && n - o >= GRAFT_PACKED_TILE && !graft_packed_is_scattered(self) &&
            self->in_features % GRAFT_PACKED_LINE == 0) {
            graft_packed_widen_lines(self, format, first + o, out + o * row_bytes);
            continue;
        }
#endif
        if (n - o >= GRAFT_PACKED_TILE) {
            graft_packed_widen_tile(self, format, bits, rounded, first + o, GRAFT_PACKED_TILE, out + o * row_bytes);
        } else {
            graft_packed_widen_tile(self, format, bits, rounded, first + o, n - o, out + o * row_bytes);
        }
    }
}

/* Codes of a format have 4 bits or, unless it says otherwise before it includes this, 8. */
#ifndef GRAFT_PACKED_MOST_BITS
#define GRAFT_PACKED_MOST_BITS 8
#endif

/* [any] Which of them, as a constant: `call`, in which `bits` is one. */
#define GRAFT_PACKED_BY_BITS(self, call)                        \
    do {                                                        \
        if (GRAFT_PACKED_MOST_BITS == 4 || (self)->bits == 4) { \
            const int bits = 4;                                 \
            call;                                               \
        } else {                                                \
            const int bits = 8;                                 \
            call;                                               \
        }                                                       \
    } while (0)

/* Products of one arithmetic. */
#define GRAFT_PACKED_PRODUCTS(name, format, rounds)                                                                 \
    static void name##_prepare(const struct graft_packed *self, const float *x, struct graft_packed_input *input,   \
                               int64_t t) {                                                                         \
        GRAFT_PACKED_BY_BITS(self, graft_packed_prepare_row(self, bits, rounds, x, input, t));                      \
    }                                                                                                               \
    static void name##_multiply(const struct graft_packed *self, const struct graft_packed_input *input, int64_t t, \
                                int64_t tokens, int64_t first, int64_t n, float *y) {                               \
        GRAFT_PACKED_BY_BITS(self,                                                                                  \
                             graft_packed_multiply_any(self, format, bits, rounds, input, t, tokens, first, n, y)); \
    }

/* Rows of W in one type. */
#define GRAFT_PACKED_ROWS_OF(name, format, narrow)                                                             \
    static void name##_widen(const struct graft_packed *self, int64_t first, int64_t n, void *out) {           \
        GRAFT_PACKED_BY_BITS(self, graft_packed_widen_any(self, format, bits, narrow, first, n, (char *)out)); \
    }

/* Where the target does not multiply bf16, few tokens are multiplied as in f32: by the same functions. */
#if defined(__AVX512BF16__)
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format) GRAFT_PACKED_PRODUCTS(rounded, format, 1)
#define GRAFT_PACKED_ROUNDED(function) rounded_##function
#else
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format)
#define GRAFT_PACKED_ROUNDED(function) exact_##function
#endif

/* Defines it. */
#define GRAFT_PACKED_LOOPS(name, unpack, unpack_zeros, steps, pairs)                       \
    static const struct graft_packed_format format = {unpack, unpack_zeros, steps, pairs}; \
    GRAFT_PACKED_PRODUCTS(exact, format, 0)                                                \
    GRAFT_PACKED_ROUNDED_PRODUCTS(format)                                                  \
    GRAFT_PACKED_ROWS_OF(exact, format, 0)                                                 \
    GRAFT_PACKED_ROWS_OF(rounded, format, 1)                                               \
    const struct graft_packed_loops GRAFT_PACKED_TABLE(name) = {                           \
        GRAFT_PACKED_ISA,                                                                  \
        {exact_prepare, exact_multiply, exact_widen},                                      \
        {GRAFT_PACKED_ROUNDED(prepare), GRAFT_PACKED_ROUNDED(multiply), rounded_widen},    \
    }

#ifdef __cplusplus
}
#endif

#endif
