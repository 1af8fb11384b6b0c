/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times the words of a format (packed_format.h), where these lie. A sum goes over groups, and the inputs in
 * each, in their order: nothing depends on the number of tokens or threads.
 */
#ifndef GRAFT_PACKED_FEW_H
#define GRAFT_PACKED_FEW_H

#include "packed_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- The input ---------------------------------------------------------------------------------------------------- */

/* The inputs of a word. */
typedef float graft_packed_eight __attribute__((vector_size(32)));
/* The same, as whole numbers. */
typedef int32_t graft_packed_eight_ints __attribute__((vector_size(32)));
/* The same, as bits. */
typedef uint32_t graft_packed_eight_words __attribute__((vector_size(32)));

/* [any] What the codes of one word are multiplied by, as f32: a code of 8 bits is two. Rounded to bf16 or, times
 * `factor`, to integers (adding 1.5 * 2^23 leaves no room for a fraction). */
GRAFT_PACKED_INLINE void graft_packed_read_inputs(const float *x, const int bits, const int rounded, float factor,
                                                  graft_packed_eight *inputs) {
    const graft_packed_eight none = {0};
    graft_packed_eight numbers = {0};
    graft_packed_eight_words words;
    if (bits == 4) {
        memcpy(&numbers, x, sizeof numbers);
    } else {
        for (int k = 0; k < GRAFT_PACKED_CODES; k++) {
            numbers[k] = x[k / 2];
        }
    }
    if (rounded == GRAFT_PACKED_INTEGERS) {
        numbers = (numbers * factor + (none + 12582912.0F)) - 12582912.0F;
    } else if (rounded) {
        words = (graft_packed_eight_words)numbers;
        numbers = (graft_packed_eight)((words + 0x7fff + ((words >> 16) & 1)) & 0xffff0000);
    }
    *inputs = numbers;
}

/*
 * [any] Writes them as graft_packed_add_word wants them.
 *
 * Codes are not moved to the lowest bits before they are converted to f32: code k of a word counts 16^k times and its
 * input 16^-k times, which loses nothing. Only the last, where the sign would be, is moved. For bf16 and integers two
 * codes are done at once: code k in the lower half of a lane and k + 4 in the upper.
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
    if (rounded) {
        const graft_packed_eight_words shorts =
            rounded == GRAFT_PACKED_INTEGERS
                ? (graft_packed_eight_words) __builtin_convertvector(numbers, graft_packed_eight_ints)
                : (graft_packed_eight_words)numbers >> 16;
        numbers = (graft_packed_eight)shorts;
    }
    memcpy(words, &numbers, sizeof words);
    for (int k = 0; rounded && k < GRAFT_PACKED_CODES / 2; k++) {
        words[k] = (words[k] & 0xffff) | words[k + GRAFT_PACKED_CODES / 2] << 16;
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
        float factor = 1.0F, after = 1.0F;
        int64_t end = graft_packed_is_scattered(self) ? self->in_features
                                                      : i + graft_packed_left(self->in_features, i, self->group_size);
        if (rounded == GRAFT_PACKED_INTEGERS) {
            factor = graft_packed_factor(x + i, end - i, &after);
            input->factors[t * self->groups + g] = after;
        }
        for (; i < end; i += slots, out += rounded ? GRAFT_PACKED_CODES / 2 : GRAFT_PACKED_CODES) {
            graft_packed_eight numbers;
            graft_packed_read_inputs(x + i, bits, rounded, factor, &numbers);
            graft_packed_write_inputs(&numbers, bits, rounded, out);
            parts += numbers;
        }
        for (int k = 0; k < GRAFT_PACKED_CODES && !graft_packed_is_scattered(self); k++) {
            sums[g] += parts[k] * after * (bits == 8 ? 0.5F : 1.0F);
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

/* [any] What is added to pairs of codes. */
GRAFT_PACKED_INLINE uint32_t graft_packed_raised(const int rounded) {
    return rounded == GRAFT_PACKED_BRAINS ? 0x43004300 : 0;
}

/* [any] Code k of a word as f32, 16^k times as large where it is not the last, or codes k and k + 4 as bf16 or integers
 * of 16 bits. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_codes(graft_packed_words word, const int rounded, int k) {
    if (rounded) {
        return ((word >> 4 * k) & 0x000f000f) | graft_packed_raised(rounded);
    }
    return (graft_packed_words)graft_packed_convert(k == GRAFT_PACKED_CODES - 1 ? word >> 28 : word & (15U << 4 * k));
}

/* [any] sum + a * b, of f32 or of pairs of bf16; or of pairs of integers, and so is the sum. */
GRAFT_PACKED_INLINE graft_packed_floats graft_packed_add(graft_packed_floats sum, const int rounded,
                                                         graft_packed_words a, graft_packed_words b) {
#if defined(__AVX512BF16__)
    if (rounded == GRAFT_PACKED_BRAINS) {
        return (graft_packed_floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
    }
#endif
#if defined(__AVX2__)
    if (rounded == GRAFT_PACKED_INTEGERS) {
        return (graft_packed_floats)graft_packed_dot((graft_packed_ints)sum, (graft_packed_ints)a,
                                                     (graft_packed_ints)b);
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
                format.pairs(self, step + s, k, graft_packed_raised(rounded), first, n, numbers);
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

/* [any] What codes are too large by in sums: those of 8 bits are two. */
GRAFT_PACKED_INLINE float graft_packed_above(const int bits, const int rounded) {
    return rounded != GRAFT_PACKED_BRAINS ? 0.0F : bits == 8 ? GRAFT_PACKED_ABOVE * 17.0F : (float)GRAFT_PACKED_ABOVE;
}

/* [any] totals += what a group's sums come to, for outputs [first, first + n): with sum(x) of the group, and what codes
 * are too large by. */
GRAFT_PACKED_INLINE void graft_packed_add_group(const struct graft_packed *self,
                                                const struct graft_packed_format format, const int bits,
                                                const int rounded, const struct graft_packed_portion *portion,
                                                const int tokens, int64_t first, int64_t n, graft_packed_sums sums,
                                                graft_packed_sums totals) {
    const float above = graft_packed_above(bits, rounded);
    struct graft_packed_group at;
    graft_packed_group_at(self, format, portion->group, first, n, &at);
    for (int k = 0; k < tokens; k++) {
        const int64_t of = (portion->t + k) * self->groups + portion->group;
        const float x = portion->input->sums[of];
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            graft_packed_floats sum = sums[k][v];
            if (rounded == GRAFT_PACKED_INTEGERS) {
                sum =
                    __builtin_convertvector((graft_packed_ints)sum, graft_packed_floats) * portion->input->factors[of];
            }
            totals[k][v] += at.scales[v] * (sum - (at.zeros[v] + above) * x);
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
    graft_packed_sums mine = {{{0}}};
    if (!portion->begins) {
        graft_packed_copy(mine, sums, tokens);
    }
    graft_packed_add_words(self, format, rounded, portion->numbers, portion->input->codes, tokens, portion->step, steps,
                           first, n, mine);
    if (portion->ends) {
        graft_packed_add_group(self, format, bits, rounded, portion, tokens, first, n, mine, totals);
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
                sum = graft_packed_add(sum, GRAFT_PACKED_EXACT, graft_packed_codes(words[v], GRAFT_PACKED_EXACT, k),
                                       graft_packed_all((uint32_t)inputs[k]));
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

/* [any] graft_packed_arithmetic.multiply: whole tiles, and what is left of one. */
GRAFT_PACKED_INLINE void graft_packed_multiply_any(const struct graft_packed *self,
                                                   const struct graft_packed_format format, const int bits,
                                                   const int rounded, const struct graft_packed_input *input, int64_t t,
                                                   int64_t tokens, int64_t first, int64_t n, float *y) {
    const int64_t tile = GRAFT_PACKED_TILE, whole = n / tile * tile;
    const struct graft_packed_format short_steps = {format.unpack, format.unpack_zeros, 1, format.pairs, NULL};
    const int by_one = format.one != NULL && n % GRAFT_PACKED_STRIP == 0 && !graft_packed_is_scattered(self);
    if (by_one && rounded == GRAFT_PACKED_INTEGERS && tokens == GRAFT_PACKED_TILE_TOKENS) {
        format.one(self, format, bits, rounded, input, t, GRAFT_PACKED_TILE_TOKENS, first, n, y);
        return;
    }
    if (by_one && tokens < GRAFT_PACKED_TILE_TOKENS) {
        for (int64_t k = 0; k < tokens; k++) {
            format.one(self, format, bits, rounded, input, t + k, 1, first, n, y + k * self->out_features);
        }
        return;
    }
    for (int64_t o = 0; o < whole; o += tile * GRAFT_PACKED_TILES) {
        graft_packed_multiply_tokens(self, format, bits, rounded, input, t, tokens, first + o, GRAFT_PACKED_TILE,
                                     graft_packed_left(whole, o, tile * GRAFT_PACKED_TILES) / tile, y + o);
    }
    if (whole < n) {
        graft_packed_multiply_tokens(self, short_steps, bits, rounded, input, t, tokens, first + whole, n - whole, 1,
                                     y + whole);
    }
}

#ifdef __cplusplus
}
#endif

#endif
