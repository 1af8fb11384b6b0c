/* SPDX-License-Identifier: Apache-2.0 */
/* Many tokens times integer codes, as integer products, for AVX2 and AVX-512: shared by panels.h and
 * packed_words_many.h, and included by files that are compiled once for each instruction set.
 *
 * Inputs are rounded to 16-bit integers (with AVX2 or VNNI, which multiply twice as many of them as f32 numbers at
 * once) or, if that is allowed, to 8-bit integers. A block of up to 128 inputs shares the unit of its integers. Codes,
 * scales and the sums of a block are exact. Codes are arranged in panels: words with the codes of two or four inputs,
 * those of several outputs side by side. Each lane is an output, so nothing has to be added up over lanes.
 *
 * Each output has a sum for each token, over blocks in order. Results do not depend on the number of tokens, threads or
 * outputs. */
#ifndef GRAFT_KERNELS_CODED_PANEL_LOOPS_H
#define GRAFT_KERNELS_CODED_PANEL_LOOPS_H

#include "graft/vectors.h"
#include "kernels/coded/coded.h"
#include "kernels/coded/steps.h"

/* In order: words of a panel for each output, and the most blocks; vectors of outputs; tokens and vectors that are
 * multiplied together; inputs of a block; the fewest inputs of a block (half as many for pairs); steps of bytes whose
 * sums fit 16 bits; the largest code of float4, added to make codes as bytes unsigned; bytes of a cache line. */
enum {
    GRAFT_MANY_WORDS = 256,
    GRAFT_MANY_BLOCKS = 32,
    GRAFT_MANY_ACROSS = GRAFT_CODED_PANEL / GRAFT_VECTOR_LANES,
    GRAFT_MANY_TOKENS = 6,
    GRAFT_MANY_SIDE = GRAFT_VECTOR_LANES == 16 ? 4 : 2,
    GRAFT_MANY_SUMS = GRAFT_MANY_TOKENS * GRAFT_MANY_SIDE,
    GRAFT_MANY_BLOCK = 128,
    GRAFT_MANY_LEAST = 32,
    GRAFT_MANY_STEPS = 8,
    GRAFT_MANY_FLOATS = 12,
    GRAFT_MANY_LINE = 64
};

/* Compile-time constants that the loops are specialized for. */
struct graft_many_shape {
    int32_t bits;      /* of a code: 4 or 8 */
    int32_t is_signed; /* whether codes are signed */
    int32_t is_bytes;  /* inputs have 8 bits, and a panel's word has four; else 16 bits, and two */
    int32_t is_float;  /* codes are float4, which are integers in units of a half */
};

/* Sizes of a weight. */
struct graft_many_sizes {
    int64_t columns; /* inputs */
    int64_t block;   /* inputs of a block; 0: these loops do not support the weight */
};

/* The codes of several outputs for a range of inputs. */
struct graft_many_panel {
    graft_vector_ints words[GRAFT_MANY_WORDS][GRAFT_MANY_ACROSS];     /* codes; of pairs, minus the zero point */
    graft_vector_floats scales[GRAFT_MANY_BLOCKS][GRAFT_MANY_ACROSS]; /* of blocks */
    graft_vector_floats zeros[GRAFT_MANY_BLOCKS][GRAFT_MANY_ACROSS];  /* likewise */
    int64_t blocks;                                                   /* number of blocks */
    int64_t block;                                                    /* inputs of a block */
    int32_t stored; /* for bytes: each output has its own zero points, not a common one */
    int32_t zero;   /* the common zero point */
};

/* The inputs that a panel is multiplied by. */
struct graft_many_inputs {
    const char *numbers; /* of token 0, beginning with the panel's first input */
    const float *steps;  /* units of its blocks */
    const int32_t *sums; /* for bytes: the sum of each block's integers */
    int64_t size;        /* bytes from one token to the next */
    int64_t block;       /* inputs of a block */
};

/* [any] Fills in the blocks of a panel, from column `column` on, for outputs [first, first + n), n at most
 * GRAFT_CODED_PANEL. The rest of the panel is undefined. */
typedef void (*graft_many_fill)(const struct graft_coded *self, const struct graft_many_shape shape, int64_t first,
                                int64_t n, int64_t column, struct graft_many_panel *panel);

GRAFT_ASSERT_SIZE(struct graft_many_shape, 16);
GRAFT_ASSERT_SIZE(struct graft_many_sizes, 16);
GRAFT_ASSERT_SIZE(struct graft_many_panel, 81920 + (GRAFT_VECTOR_LANES == 16 ? 64 : 32));
GRAFT_ASSERT_SIZE(struct graft_many_inputs, 40);

#if defined(__AVX2__)

/* [any] What is added to signed codes, and so to zero points, to make them unsigned. */
GRAFT_VECTOR_INLINE int32_t graft_many_moved(const struct graft_many_shape shape) {
    if (!shape.is_bytes) {
        return 0;
    }
    return shape.is_float ? GRAFT_MANY_FLOATS : shape.is_signed ? 128 : 0;
}

/* [any] The value of one unit of a code. */
GRAFT_VECTOR_INLINE float graft_many_unit(const struct graft_many_shape shape) {
    return shape.is_float ? 0.5F : 1.0F;
}

/* [any] The sizes of a weight with this number of groups, whose inputs are in order or not. A block never spans groups.
 * Without a dot product instruction, products of bytes are added up in 16 bits first, which is enough for codes
 * below 16. */
GRAFT_VECTOR_INLINE struct graft_many_sizes graft_many_sizes_of(const struct graft_many_shape shape, int64_t columns,
                                                                int64_t groups, int64_t group_size, int in_order) {
    const int has_room = GRAFT_VECTOR_VNNI || !shape.is_bytes || (shape.bits == 4 && !shape.is_float);
    const int64_t group = groups == 1 ? columns : group_size;
    struct graft_many_sizes sizes = {columns, in_order && has_room ? GRAFT_MANY_BLOCK : 0};
    const int64_t least = shape.is_bytes ? GRAFT_MANY_LEAST : GRAFT_MANY_LEAST / 2; /* so that the blocks fit a panel */
    while (sizes.block >= least && (group % sizes.block != 0 || columns % sizes.block != 0)) {
        sizes.block /= 2;
    }
    sizes.block = sizes.block >= least ? sizes.block : 0;
    return sizes;
}

/* [any] Bytes of a token's integers. */
GRAFT_VECTOR_INLINE int64_t graft_many_numbers(const struct graft_many_shape shape,
                                               const struct graft_many_sizes sizes) {
    return sizes.columns * (shape.is_bytes ? 1 : 2);
}

/* [any] graft_coded_prepared.size. */
GRAFT_VECTOR_INLINE int64_t graft_many_size(const struct graft_many_shape shape, const struct graft_many_sizes sizes) {
    const int64_t blocks = sizes.block > 0 ? sizes.columns / sizes.block * (shape.is_bytes ? 2 : 1) : 0;
    const int64_t size = graft_many_numbers(shape, sizes) + blocks * (int64_t)sizeof(float);
    return blocks > 0 ? (size + GRAFT_MANY_LINE - 1) / GRAFT_MANY_LINE * GRAFT_MANY_LINE : 0;
}

/* --- Inputs --- */

/* [any] Multiplies x [8] by `factor` and rounds to 16-bit integers. */
GRAFT_VECTOR_INLINE __m128i graft_many_eight(const float *x, float factor) {
    const __m256i whole = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(factor)));
    return _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
}

/* [any] 16 bytes of integers, in the order of the codes in words. */
GRAFT_VECTOR_INLINE __m128i graft_many_line(const float *x, float factor, const struct graft_many_shape shape) {
    const __m128i lower = graft_many_eight(x, factor);
    if (shape.is_bytes) {
        const __m128i bytes = _mm_packs_epi16(lower, graft_many_eight(x + 8, factor));
        const __m128i nibbles = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
        return shape.bits == 4 ? _mm_shuffle_epi8(bytes, nibbles) : bytes;
    }
    const __m128i nibbles = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    const __m128i bytes = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    return _mm_shuffle_epi8(lower, shape.bits == 4 ? nibbles : bytes);
}

/* [any] The factor that turns n activations with a common unit into 8-bit integers, and the unit `step`. Unlike in
 * graft_coded_factor it is not a power of two, which would waste up to one of the few bits. */
GRAFT_VECTOR_INLINE float graft_many_factor(const float *x, int64_t n, float *step) {
    const float largest = graft_vector_largest(x, n);
    *step = graft_coded_step_if(largest, largest / 127.0F);
    return *step > 0.0F ? 127.0F / largest : 0.0F;
}

/* [any] Adds 16 signed bytes to four sums. */
GRAFT_VECTOR_INLINE __m128i graft_many_add(__m128i sums, __m128i bytes) {
    const __m128i pairs = _mm_maddubs_epi16(_mm_set1_epi8(1), bytes);
    return _mm_add_epi32(sums, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}

/* [any] Implements `prepare`: integers, followed by the units of blocks and, for bytes, their sums. */
GRAFT_VECTOR_INLINE void graft_many_prepare(const struct graft_many_shape shape, const struct graft_many_sizes sizes,
                                            const float *x, void *inputs) {
    const int64_t block = sizes.block, blocks = sizes.columns / block;
    const int64_t most = shape.is_bytes ? 16 : 8;
    char *out = (char *)inputs;
    float *steps = (float *)(void *)(out + graft_many_numbers(shape, sizes));
    int32_t *sums = (int32_t *)(void *)(steps + blocks);
    for (int64_t b = 0; b < blocks; b++, x += block) {
        const float factor =
            shape.is_bytes ? graft_many_factor(x, block, &steps[b]) : graft_coded_factor(x, block, &steps[b]);
        __m128i sum = _mm_setzero_si128();
        for (int64_t i = 0; i < block; i += most, out += sizeof sum) {
            const __m128i line = graft_many_line(x + i, factor, shape);
            _mm_storeu_si128((__m128i *)(void *)out, line);
            sum = shape.is_bytes ? graft_many_add(sum, line) : sum;
        }
        steps[b] *= graft_many_unit(shape);
        if (shape.is_bytes) {
            int32_t four[4];
            memcpy(four, &sum, sizeof four);
            sums[b] = four[0] + four[1] + four[2] + four[3];
        }
    }
}

/* --- Panels --- */

/* [any] Converts float4 codes, one in each byte, to integers: unsigned by an offset for bytes, else signed. */
GRAFT_VECTOR_INLINE graft_vector_ints graft_many_floats(graft_vector_ints codes, const int is_bytes) {
    const __m128i moved = _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0);
    const __m128i numbers = is_bytes ? moved : _mm_sub_epi8(moved, _mm_set1_epi8(GRAFT_MANY_FLOATS));
#if defined(__AVX512F__)
    return (graft_vector_ints)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(numbers), (__m512i)codes);
#else
    return (graft_vector_ints)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), (__m256i)codes);
#endif
}

/* [any] Writes words of a panel, from `out` on, made of words with the codes of several inputs, the first in the lowest
 * bits; for pairs, minus the zero points. Returns where the next inputs go. */
GRAFT_VECTOR_INLINE graft_vector_ints *graft_many_spread(graft_vector_ints codes, graft_vector_floats zeros,
                                                         const struct graft_many_shape shape, graft_vector_ints *out) {
    typedef int16_t shorts __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));
    const graft_vector_ints none = {0}, zero = __builtin_convertvector(zeros, graft_vector_ints);
    const shorts zero_twice = (shorts)((zero & 0xffff) | zero << 16);
    if (shape.is_bytes && shape.bits == 8) {
        *out = shape.is_signed ? codes ^ (none + (int32_t)0x80808080) : codes;
        return out + GRAFT_MANY_ACROSS;
    }
    for (int k = 0; k < 2 && shape.is_bytes; k++, out += GRAFT_MANY_ACROSS) {
        const graft_vector_ints bytes = codes >> 4 * k & 0x0f0f0f0f;
        *out = shape.is_float ? graft_many_floats(bytes, 1) : bytes;
    }
    for (int k = 0; k < 16 / shape.bits && !shape.is_bytes; k++, out += GRAFT_MANY_ACROSS) {
        const graft_vector_ints lower = codes >> shape.bits * k & (shape.bits == 4 ? 0x000f000f : 0x00ff00ff);
        const shorts whole = k == 0 ? (shorts)codes << 8 : (shorts)codes;
        const shorts floats = (shorts)graft_many_floats(lower, 0) << 8; /* the number of code 0 is 0 */
        *out = (graft_vector_ints)((shape.is_float    ? floats >> 8
                                    : shape.is_signed ? whole >> 8
                                                      : (shorts)lower) -
                                   zero_twice);
    }
    return out;
}

/* --- Products --- */

/* [any] Broadcasts a word of a token's inputs to all lanes. */
GRAFT_VECTOR_INLINE graft_vector_ints graft_many_all(const char *from) {
    const graft_vector_ints none = {0};
    int32_t word;
    memcpy(&word, from, sizeof word);
    return none + word;
}

/* [any] sums [n_tokens, GRAFT_MANY_SIDE] += the products of `n` words of a panel, from `words` on, and inputs. */
GRAFT_VECTOR_INLINE void graft_many_steps(const graft_vector_ints *words, const char *x, int64_t size, int64_t n,
                                          const int is_bytes, const int n_tokens, graft_vector_ints *sums) {
    for (int64_t w = 0; w < n; w++, words += GRAFT_MANY_ACROSS, x += sizeof(int32_t)) {
        graft_vector_ints codes[GRAFT_MANY_SIDE];
        for (int v = 0; v < GRAFT_MANY_SIDE; v++) {
            codes[v] = words[v];
        }
        for (int t = 0; t < n_tokens; t++) {
            const graft_vector_ints inputs = graft_many_all(x + t * size);
            for (int v = 0; v < GRAFT_MANY_SIDE; v++) {
                graft_vector_ints *sum = &sums[t * GRAFT_MANY_SIDE + v];
                *sum = is_bytes ? graft_vector_dot_bytes(*sum, codes[v], inputs)
                                : graft_vector_dot(*sum, codes[v], inputs);
            }
        }
    }
}

/* [any] sums [n_tokens, GRAFT_MANY_SIDE] += the products of a block of n words. */
GRAFT_VECTOR_INLINE void graft_many_add_up(const graft_vector_ints *words, const char *x, int64_t size, int64_t n,
                                           const int is_bytes, const int n_tokens, graft_vector_ints *sums) {
#if !GRAFT_VECTOR_VNNI
    const graft_vector_ints none = {0};
    for (int64_t w = 0; w < n && is_bytes; w += GRAFT_MANY_STEPS) {
        graft_vector_ints some[GRAFT_MANY_SUMS];
        for (int s = 0; s < n_tokens * GRAFT_MANY_SIDE; s++) {
            some[s] = none;
        }
        graft_many_steps(words + w * GRAFT_MANY_ACROSS, x + w * (int64_t)sizeof(int32_t), size, GRAFT_MANY_STEPS, 1,
                         n_tokens, some);
        for (int s = 0; s < n_tokens * GRAFT_MANY_SIDE; s++) {
            sums[s] = graft_vector_dot(sums[s], some[s], none + 0x00010001);
        }
    }
    if (is_bytes) {
        return;
    }
#endif
    graft_many_steps(words, x, size, n, is_bytes, n_tokens, sums);
}

/* [any] totals [n_tokens, GRAFT_MANY_SIDE] += the sums of block b, scaled. `stored`: rows have their own zero
 * points. */
GRAFT_VECTOR_INLINE void graft_many_weigh(const struct graft_many_panel *panel, const struct graft_many_inputs *inputs,
                                          const int stored, const int n_tokens, int64_t b, int64_t across,
                                          const graft_vector_ints *sums, graft_vector_floats *totals) {
    for (int t = 0; t < n_tokens; t++) {
        const int64_t at = b + t * inputs->size / (int64_t)sizeof(float);
        for (int v = 0; v < GRAFT_MANY_SIDE; v++) {
            graft_vector_floats sum = __builtin_convertvector(sums[t * GRAFT_MANY_SIDE + v], graft_vector_floats);
            if (stored) {
                sum = graft_vector_add_product(sum, -panel->zeros[b][across + v],
                                               graft_vector_all((float)inputs->sums[at]));
            }
            graft_vector_floats *total = &totals[t * GRAFT_MANY_SIDE + v];
            *total = graft_vector_add_product(*total, sum, panel->scales[b][across + v] * inputs->steps[at]);
        }
    }
}

/* [any] y [lanes] = numbers or, with `adds`, y += numbers. Writes at most a vector, and nothing if `lanes` is 0 or
 * less. */
GRAFT_VECTOR_INLINE void graft_many_store(graft_vector_floats numbers, int64_t lanes, int adds, float *y) {
    if (lanes >= GRAFT_VECTOR_LANES) { /* a constant size needs no call */
        if (adds) {                    /* otherwise y is not read: that would map fresh memory twice */
            graft_vector_floats before;
            memcpy(&before, y, sizeof before);
            numbers += before;
        }
        memcpy(y, &numbers, sizeof numbers);
        return;
    }
    for (int64_t l = 0; l < lanes; l++) {
        y[l] = adds ? y[l] + numbers[l] : numbers[l];
    }
}

/* [any] Computes y for n_tokens tokens and one group of a panel's vectors, of which only `lanes` lanes are valid. With
 * `adds` the products are added to y. */
GRAFT_VECTOR_INLINE void graft_many_tile(const struct graft_many_panel *panel, const struct graft_many_inputs *inputs,
                                         const int is_bytes, const int stored, const int n_tokens, int64_t across,
                                         int64_t lanes, int adds, float *y, int64_t y_stride) {
    const int64_t words = inputs->block / (is_bytes ? 4 : 2);
    const char *x = inputs->numbers;
    graft_vector_floats totals[GRAFT_MANY_SUMS] = {{0}};
    for (int64_t b = 0; b < panel->blocks; b++, x += words * (int64_t)sizeof(int32_t)) {
        graft_vector_ints sums[GRAFT_MANY_SUMS];
        for (int t = 0; t < n_tokens; t++) {
            const int64_t at = b + t * inputs->size / (int64_t)sizeof(int32_t);
            const graft_vector_ints none = {0},
                                    start = is_bytes && !stored ? none - inputs->sums[at] * panel->zero : none;
            for (int v = 0; v < GRAFT_MANY_SIDE; v++) {
                sums[t * GRAFT_MANY_SIDE + v] = start;
            }
        }
        graft_many_add_up(&panel->words[b * words][across], x, inputs->size, words, is_bytes, n_tokens, sums);
        graft_many_weigh(panel, inputs, stored, n_tokens, b, across, sums, totals);
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int v = 0; v < GRAFT_MANY_SIDE; v++) {
            graft_many_store(totals[t * GRAFT_MANY_SIDE + v], lanes - v * GRAFT_VECTOR_LANES, adds,
                             y + t * y_stride + (ptrdiff_t)v * GRAFT_VECTOR_LANES);
        }
    }
}

/* [any] Computes y [n_tokens, n] of a panel. */
GRAFT_VECTOR_INLINE void graft_many_some(const struct graft_many_panel *panel, const struct graft_many_inputs *inputs,
                                         const int is_bytes, const int stored, const int n_tokens, int64_t n, int adds,
                                         float *y, int64_t y_stride) {
    for (int64_t at = 0; at < n; at += GRAFT_MANY_SIDE * GRAFT_VECTOR_LANES) {
        graft_many_tile(panel, inputs, is_bytes, stored, n_tokens, at / GRAFT_VECTOR_LANES, n - at, adds, y + at,
                        y_stride);
    }
}

/* [any] Computes y [tokens, n] of a panel. */
GRAFT_VECTOR_INLINE void graft_many_tokens(const struct graft_many_panel *panel, struct graft_many_inputs inputs,
                                           const int is_bytes, const int stored, int64_t tokens, int64_t n, int adds,
                                           float *y, int64_t y_stride) {
    while (tokens > 0) {
        const int64_t some = tokens >= GRAFT_MANY_TOKENS ? GRAFT_MANY_TOKENS : tokens >= 4 ? 4 : 1;
        if (some == GRAFT_MANY_TOKENS) {
            graft_many_some(panel, &inputs, is_bytes, stored, GRAFT_MANY_TOKENS, n, adds, y, y_stride);
        } else if (some == 4) {
            graft_many_some(panel, &inputs, is_bytes, stored, 4, n, adds, y, y_stride);
        } else {
            graft_many_some(panel, &inputs, is_bytes, stored, 1, n, adds, y, y_stride);
        }
        inputs.numbers += some * inputs.size;
        inputs.steps += some * inputs.size / (int64_t)sizeof(float);
        inputs.sums += some * inputs.size / (int64_t)sizeof(int32_t);
        y += some * y_stride;
        tokens -= some;
    }
}

/* [any] Implements `multiply`. `fill` is a compile-time constant. */
GRAFT_VECTOR_INLINE void graft_many_multiply(const struct graft_coded *self, const struct graft_many_shape shape,
                                             const struct graft_many_sizes sizes, graft_many_fill fill, int64_t first,
                                             int64_t n, const void *numbers, int64_t tokens, float *y,
                                             int64_t y_stride) {
    const int64_t most = GRAFT_MANY_WORDS * (shape.is_bytes ? 4 : 2);
    const char *from = (const char *)numbers;
    const float *steps = (const float *)(const void *)(from + graft_many_numbers(shape, sizes));
    struct graft_many_panel panel;
    struct graft_many_inputs inputs;
    inputs.size = graft_many_size(shape, sizes);
    inputs.block = panel.block = sizes.block;
    for (int64_t row = 0; row < n; row += GRAFT_CODED_PANEL) {
        const int64_t rows = graft_coded_left(n, row, GRAFT_CODED_PANEL);
        for (int64_t column = 0; column < sizes.columns; column += most) {
            const int64_t columns = graft_coded_left(sizes.columns, column, most);
            panel.blocks = columns / sizes.block;
            fill(self, shape, first + row, rows, column, &panel);
            inputs.numbers = from + column * (shape.is_bytes ? 1 : 2);
            inputs.steps = steps + column / sizes.block;
            inputs.sums = (const int32_t *)(const void *)(inputs.steps + sizes.columns / sizes.block);
            if (shape.is_bytes && panel.stored) {
                graft_many_tokens(&panel, inputs, 1, 1, tokens, rows, column > 0, y + row, y_stride);
            } else {
                graft_many_tokens(&panel, inputs, shape.is_bytes, 0, tokens, rows, column > 0, y + row, y_stride);
            }
        }
    }
}

#endif

/* Defines `loops`, a graft_coded_prepared called `name`, if the target has it: pairs of 16-bit integers where they are
 * faster than the host's other products, and bytes with 4-bit or 8-bit codes. Otherwise one that supports no weight. */
#if defined(__AVX2__) && (!defined(__AVX512F__) || (GRAFT_VECTOR_VNNI && !defined(__AVX512BF16__)))
#define GRAFT_MANY_PAIRS(name, loops) loops
#else
#define GRAFT_MANY_PAIRS(name, loops) GRAFT_CODED_UNPREPARED(name)
#endif
#if defined(__AVX2__)
#define GRAFT_MANY_BYTES_4(name, loops) loops
#else
#define GRAFT_MANY_BYTES_4(name, loops) GRAFT_CODED_UNPREPARED(name)
#endif
#if GRAFT_VECTOR_VNNI
#define GRAFT_MANY_BYTES_8(name, loops) loops
#else
#define GRAFT_MANY_BYTES_8(name, loops) GRAFT_CODED_UNPREPARED(name)
#endif

#endif
