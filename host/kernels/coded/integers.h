/* SPDX-License-Identifier: Apache-2.0 */
/* Few tokens times rows of integer codes, as integer products, for AVX2 and AVX-512: `prepared` of coded.h. Inputs are
 * rounded to 16-bit integers. One instruction multiplies a vector of them by codes and adds up pairs, where f32 needs
 * two, and codes need not be converted. A block of inputs shares the unit of its integers (graft_coded_step); this
 * loses less precision than rounding to bf16. Codes, scales and the sums of a block are exact. Codes of float4 are
 * integers too, in units of a half. Part of loops.h.
 *
 * Each row has a vector of sums for each token, over blocks in order. Results do not depend on the number of tokens,
 * threads or rows. */
#ifndef GRAFT_KERNELS_CODED_INTEGERS_H
#define GRAFT_KERNELS_CODED_INTEGERS_H

#include "kernels/coded/factors.h"
#include "kernels/coded/steps.h"

/* BYTES: bytes of codes that are unpacked at a time, one vector. SHORTS: 16-bit integers in a vector. BLOCK: inputs of
 * a block if groups consist of whole blocks; the sum of so many products is far from overflowing. */
enum {
    GRAFT_ROW_INTEGERS_BYTES = 4 * GRAFT_ROW_LANES,
    GRAFT_ROW_INTEGERS_SHORTS = 2 * GRAFT_ROW_LANES,
    GRAFT_ROW_INTEGERS_BLOCK = 128,
    GRAFT_ROW_INTEGERS_FLOATS = 32, /* inputs of a group of float4; some have half as many */
    GRAFT_ROW_INTEGERS_END = 16     /* a row may end with a multiple of this many bytes after its last whole line */
};

/* Compile-time constants for which loops are compiled. */
struct graft_row_integers_shape {
    int32_t kind;    /* of codes */
    int32_t lines;   /* lines of a block */
    int32_t many;    /* groups in a block; 1 if a group has one block or more */
    int32_t stored;  /* whether each row has its own zero points */
    int32_t is_near; /* graft_row_is_near */
};

/* Rows that are multiplied together, with prepared inputs. */
struct graft_row_integers_tile {
    const struct graft_coded *self;        /* the weight */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first n_rows */
    int64_t part;                          /* distance of the rows, in outputs */
    const char *inputs;                    /* [n_tokens, size]: see graft_row_integers_prepare */
    int64_t size;                          /* bytes of a token's inputs */
    const float *steps;                    /* the steps of the first token */
};

/* Consecutive blocks whose steps and zero points have been filled in. */
struct graft_row_integers_run {
    int64_t b;      /* first block */
    int64_t n;      /* how many */
    int64_t group;  /* group of the first block; with `many`, its first group */
    int64_t groups; /* number of groups */
    int64_t left;   /* blocks left in the first group */
    int64_t most;   /* blocks in a group */
};

/* The end of each row after its last whole line, padded with zeros. */
struct graft_row_integers_end {
    _Alignas(GRAFT_ROW_INTEGERS_BYTES) unsigned char codes[GRAFT_ROW_INTEGERS_BYTES]; /* a line */
};

GRAFT_ASSERT_SIZE(struct graft_row_integers_shape, 20);
GRAFT_ASSERT_SIZE(struct graft_row_integers_tile, 168);
GRAFT_ASSERT_SIZE(struct graft_row_integers_run, 48);
GRAFT_ASSERT_SIZE(struct graft_row_integers_end, GRAFT_ROW_INTEGERS_BYTES);

#if defined(__AVX2__)

/* [any] Loads a vector from any address. With memcpy, compilers may load it in halves, which is slow. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_load(const void *from) {
#if defined(__AVX512F__)
    return (graft_row_ints)_mm512_loadu_si512(from);
#else
    return (graft_row_ints)_mm256_loadu_si256((const __m256i *)from);
#endif
}

/* [any] Loads the first `bytes` bytes of a vector, a multiple of 4 that is less than a whole vector; the rest is
 * zero. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_load_some(const void *from, int64_t bytes) {
#if defined(__AVX512F__)
    return (graft_row_ints)_mm512_maskz_loadu_epi32((__mmask16)((1U << (bytes / 4)) - 1), from);
#else
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i is_there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)), lanes);
    return (graft_row_ints)_mm256_maskload_epi32((const int *)from, is_there);
#endif
}

/* [any] Whether codes have 4 bits. */
GRAFT_ROW_INLINE int graft_row_integers_halves(const int kind) {
    return kind == GRAFT_ROW_KIND_UINT4 || kind == GRAFT_ROW_KIND_FLOAT4;
}

/* [any] The value of one unit of an unpacked code. */
GRAFT_ROW_INLINE float graft_row_integers_unit(const int kind) {
    return kind == GRAFT_ROW_KIND_FLOAT4 ? 1.0F / 512.0F
                                         : 1.0F; /* units are halves, and lanes have the code in their upper byte */
}

/* [any] The number of inputs in a line of codes. */
GRAFT_ROW_INLINE int64_t graft_row_integers_line(const int kind) {
    return graft_row_integers_halves(kind) ? 2 * GRAFT_ROW_INTEGERS_BYTES : GRAFT_ROW_INTEGERS_BYTES;
}

/* [any] Whether groups consist of whole blocks. */
GRAFT_ROW_INLINE int graft_row_integers_whole(const struct graft_coded *self, const int kind) {
    return kind != GRAFT_ROW_KIND_FLOAT4 && self->group_size % GRAFT_ROW_INTEGERS_BLOCK == 0 &&
           self->columns % GRAFT_ROW_INTEGERS_BLOCK == 0;
}

/* [any] Lines of a block: as many as GRAFT_ROW_INTEGERS_BLOCK inputs take if a group consists of whole blocks;
 * otherwise a single line, which may have several groups if codes have 4 bits. */
GRAFT_ROW_INLINE int64_t graft_row_integers_lines(const struct graft_coded *self, const int kind) {
    return graft_row_integers_whole(self, kind) ? GRAFT_ROW_INTEGERS_BLOCK / graft_row_integers_line(kind) : 1;
}

/* [any] Groups of a block; 1 if a group has a block or more. */
GRAFT_ROW_INLINE int64_t graft_row_integers_many(const struct graft_coded *self, const int kind) {
    const int64_t line = graft_row_integers_line(kind);
    return self->group_size < line ? line / self->group_size : 1;
}

/* [any] Bytes of a block of inputs: a vector for its sums, followed by its integers. */
GRAFT_ROW_INLINE int64_t graft_row_integers_bytes(const int kind, int64_t lines) {
    return GRAFT_ROW_INTEGERS_BYTES + lines * graft_row_integers_line(kind) * (int64_t)sizeof(int16_t);
}

/* [any] The number of blocks in a row; the last one may be a part of a line. */
GRAFT_ROW_INLINE int64_t graft_row_integers_count(const struct graft_coded *self, const int kind) {
    const int64_t block = graft_row_integers_lines(self, kind) * graft_row_integers_line(kind);
    return (self->columns + block - 1) / block;
}

/* [any] The number of steps of a token, rounded up to whole vectors. */
GRAFT_ROW_INLINE int64_t graft_row_integers_steps(const struct graft_coded *self, const int kind) {
    const int64_t steps = graft_row_integers_count(self, kind) * graft_row_integers_many(self, kind);
    return (steps + GRAFT_ROW_LANES - 1) / GRAFT_ROW_LANES * GRAFT_ROW_LANES;
}

/* [any] Bytes of all blocks of a token; its steps follow them. */
GRAFT_ROW_INLINE int64_t graft_row_integers_blocks(const struct graft_coded *self, const int kind) {
    return graft_row_integers_count(self, kind) * graft_row_integers_bytes(kind, graft_row_integers_lines(self, kind));
}

/* [any] Whether a line belongs to a single group or, with 4-bit codes, is divided among several. Groups of float4 have
 * 32 inputs, or 16. */
GRAFT_ROW_INLINE int graft_row_integers_divides(const struct graft_coded *self, const int kind) {
    const int64_t line = graft_row_integers_line(kind), size = self->group_size;
    if (kind == GRAFT_ROW_KIND_FLOAT4) {
        return size == GRAFT_ROW_INTEGERS_FLOATS || size == GRAFT_ROW_INTEGERS_FLOATS / 2;
    }
    return self->groups == 1 || size % line == 0 ||
           (graft_row_integers_halves(kind) && (size == line / 2 || size == line / 4));
}

/* [any] graft_coded_prepared.size. */
GRAFT_ROW_INLINE int64_t graft_row_integers_size(const struct graft_coded *self, const int kind) {
    const int ends = self->columns % (2 * GRAFT_ROW_INTEGERS_END) == 0;
    const int is_whole = graft_row_integers_whole(self, kind);
    if (self->group_of != NULL || !(is_whole || (ends && graft_row_integers_divides(self, kind)))) {
        return 0;
    }
    const int64_t steps = graft_row_integers_steps(self, kind) * (int64_t)sizeof(float);
    const int64_t size = graft_row_integers_blocks(self, kind) + steps;
    return (size + GRAFT_ROW_LINE - 1) / GRAFT_ROW_LINE * GRAFT_ROW_LINE;
}

/* [any] Multiplies inputs of a line by `factor` and rounds them: those whose codes are in vector v, in lanes of 16
 * bits. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_round(const float *x, const int kind, const int v, float factor) {
    const int step = graft_row_integers_halves(kind) ? 4 : 1;
    const float *lower = x + (graft_row_integers_halves(kind) ? v : GRAFT_ROW_INTEGERS_SHORTS * v);
    const float *upper = lower + (ptrdiff_t)GRAFT_ROW_LANES * step;
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i from = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step));
    const __m512i a = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_i32gather_ps(from, lower, 4), _mm512_set1_ps(factor)));
    const __m512i b = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_i32gather_ps(from, upper, 4), _mm512_set1_ps(factor)));
    return (graft_row_ints)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtsepi32_epi16(a)),
                                              _mm512_cvtsepi32_epi16(b), 1);
#else
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i from = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(step));
    const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_i32gather_ps(lower, from, 4), _mm256_set1_ps(factor)));
    const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_i32gather_ps(upper, from, 4), _mm256_set1_ps(factor)));
    return (graft_row_ints)_mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
#endif
}

/* [any] Implements `prepare`. Integers are in the order of the vectors. Each block begins with what its sums start
 * from: minus the sums of the inputs times the zero point or, if rows have their own zero points, the sums of the
 * inputs as f32. The steps of all parts follow the blocks. */
GRAFT_ROW_INLINE void graft_row_integers_prepare(const struct graft_coded *self, const int kind, const float *x,
                                                 void *inputs) {
    const int64_t line = graft_row_integers_line(kind), block = line * graft_row_integers_lines(self, kind);
    const int64_t many = graft_row_integers_many(self, kind);
    const graft_row_ints none = {0}, ones = none + 0x00010001;
    char *out = (char *)inputs;
    float *steps = (float *)(void *)(out + graft_row_integers_blocks(self, kind));
    const int64_t n_steps = graft_row_integers_steps(self, kind);
    memset(steps + n_steps - GRAFT_ROW_LANES, 0, GRAFT_ROW_LANES * sizeof *steps); /* subnormal numbers would be slow */
    for (int64_t i = 0; i < self->columns; i += block) {
        const int64_t n = graft_coded_left(self->columns, i, block);
        float step, last[2 * GRAFT_ROW_INTEGERS_BYTES];
        const float factor = graft_coded_factor(x + i, n, &step), *from = x + i;
        graft_row_ints sum = none;
        char *begin = out;
        if (n < block) {
            memset(last, 0, sizeof last);
            memcpy(last, from, (size_t)n * sizeof *last);
            from = last;
        }
        out += sizeof sum;
        for (int64_t l = 0; l < block; l += line) {
            for (int v = 0; v < line / GRAFT_ROW_INTEGERS_SHORTS; v++, out += sizeof sum) {
                const graft_row_ints rounded = graft_row_integers_round(from + l, kind, v, factor);
                memcpy(out, &rounded, sizeof rounded);
                sum = graft_vector_dot(sum, rounded, ones);
            }
        }
        for (int64_t k = 0; k < many; k++) {
            *steps++ = step * graft_row_integers_unit(kind);
        }
        sum = graft_coded_has_zeros(self) ? (graft_row_ints) __builtin_convertvector(sum, graft_row_floats)
                                          : sum * -self->zero;
        memcpy(begin, &sum, sizeof sum);
    }
}

/* [any] Codes of float4, doubled, in the upper bytes of 16-bit lanes: those of nibble v of each byte. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_float4(graft_row_ints line, const int v) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
    const __m128i numbers = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const graft_row_ints nibbles = (graft_row_ints)((shorts)line >> (v % 2 * 4)) & 0x0f0f0f0f;
#if defined(__AVX512F__)
    const shorts bytes = (shorts)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(numbers), (__m512i)nibbles);
#else
    const shorts bytes = (shorts)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), (__m256i)nibbles);
#endif
    return (graft_row_ints)(v < 2 ? bytes << 8 : bytes & 0xff00);
}

/* [any] Unpacks vector v, a compile-time constant, of a line of codes. */
GRAFT_ROW_INLINE graft_row_ints graft_row_integers_codes(const unsigned char *codes, graft_row_ints line,
                                                         const int kind, const int v) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
    const unsigned char *bytes = codes + (ptrdiff_t)GRAFT_ROW_INTEGERS_SHORTS * v;
    const int is_signed = kind == GRAFT_ROW_KIND_INT8;
    if (kind == GRAFT_ROW_KIND_FLOAT4) {
        return graft_row_integers_float4(line, v);
    }
    if (kind == GRAFT_ROW_KIND_UINT4) {
        const shorts shifted = (shorts)line >> 4 * v;
        return (graft_row_ints)(v == 3 ? shifted : shifted & 15);
    }
#if defined(__AVX512F__)
    const __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    return (graft_row_ints)(is_signed ? _mm512_cvtepi8_epi16(some) : _mm512_cvtepu8_epi16(some));
#else
    const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    return (graft_row_ints)(is_signed ? _mm256_cvtepi8_epi16(some) : _mm256_cvtepu8_epi16(some));
#endif
}

/* [any] Whether a line of each row can stay in registers, in addition to its vector, sums, totals and two more. Lines
 * are not aligned, and loading one that crosses a cache line takes twice as long. */
GRAFT_ROW_INLINE int graft_row_integers_keeps(const int n_rows, const int n_tokens) {
    return 2 * n_rows * n_tokens + 2 * n_rows + 2 < (GRAFT_ROW_LANES == 16 ? 32 : 16);
}

/* [any] sums [n_rows, n_tokens] += the products of a line of a tile, at byte `byte` of the rows, with `numbers` of
 * token 0. */
GRAFT_ROW_INLINE void graft_row_integers_add(const struct graft_row_integers_tile *tile,
                                             const struct graft_row_integers_shape shape, const int n_rows,
                                             const int n_tokens, int64_t byte, const char *numbers, const int fetches,
                                             graft_row_ints *sums) {
    const int whole = graft_row_integers_halves(shape.kind), keeps = graft_row_integers_keeps(n_rows, n_tokens);
    const unsigned char *at[GRAFT_ROW_MOST];
    graft_row_ints lines[GRAFT_ROW_MOST];
    for (int r = 0; r < n_rows; r++) {
        at[r] = tile->rows[r].codes + byte;
        if (whole && keeps) {
            lines[r] = graft_row_integers_load(at[r]);
            __asm__("" : "+v"(lines[r])); /* keeps it in a register: the compiler would load it for each vector */
        }
        if (fetches) {
            graft_row_prefetch(at[r], shape.is_near);
        }
    }
    for (int v = 0; v < graft_row_integers_line(shape.kind) / GRAFT_ROW_INTEGERS_SHORTS; v++) {
        graft_row_ints codes[GRAFT_ROW_MOST];
        for (int r = 0; r < n_rows; r++) {
            if (whole && !keeps) {
                __asm__("" : "+r"(at[r])); /* computes it again: the compiler would spill it to the stack */
                lines[r] = graft_row_integers_load(at[r]);
            }
            codes[r] = graft_row_integers_codes(at[r], lines[r], shape.kind, v);
        }
        for (int t = 0; t < n_tokens; t++) {
            graft_row_ints inputs = graft_row_integers_load(numbers + t * tile->size + v * (int)sizeof inputs);
            __asm__("" : "+v"(inputs)); /* keeps them in registers: the compiler would load them for each row */
            for (int r = 0; r < n_rows; r++) {
                graft_row_ints *sum = &sums[r * n_tokens + t];
                *sum = graft_vector_dot(*sum, codes[r], inputs);
            }
        }
    }
}

/* [any] out [n] = for each of n blocks, the number of its group. A group has `most` blocks, and the first one has
 * `left` blocks left. Writes whole vectors. */
GRAFT_ROW_INLINE void graft_row_integers_repeat(const float *numbers, int64_t left, int64_t most, int64_t n,
                                                float *out) {
    for (int64_t i = 0; i < n; i += left, left = most) {
        const graft_row_floats all = graft_vector_all(*numbers++);
        for (int64_t k = 0; k < graft_coded_left(n, i, left); k += GRAFT_ROW_LANES) {
            memcpy(out + i + k, &all, sizeof all);
        }
    }
}

/* [any] Fills in a vector of steps for the parts of a run from `part` on: scales times the units of the inputs. */
GRAFT_ROW_INLINE void graft_row_integers_weigh(const struct graft_row_integers_tile *tile, graft_row_floats scales,
                                               int n_tokens, const float *steps, int64_t part,
                                               float (*out)[GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING]) {
    for (int t = 0; t < n_tokens; t++, steps += tile->size / (int64_t)sizeof *steps) {
        const graft_row_floats both = scales * graft_row_load(steps + part, GRAFT_ROW_LANES);
        memcpy(out[t] + part, &both, sizeof both);
    }
}

/* [any] Fills in steps and zero points for the parts of a run. Not inlined: in the loops that read them it would be
 * compiled for each shape, which takes most of a build's time and makes loops so large that sums are spilled to the
 * stack. */
static __attribute__((noinline, unused)) void graft_row_integers_steps_at(const struct graft_row_integers_tile *tile,
                                                                          const struct graft_row_integers_shape shape,
                                                                          int n_rows, int n_tokens,
                                                                          const struct graft_row_integers_run *run,
                                                                          struct graft_row_steps *factors) {
    const int64_t most = run->most, n = run->n * shape.many, group = run->group * shape.many;
    const int64_t there = graft_coded_left(tile->self->groups, group, run->groups * shape.many);
    const float *steps = tile->steps + run->b * shape.many;
    const int is_one = most > 1 && run->groups == 1, is_each = most == 1;
    const struct graft_row_units units = {steps, n_tokens, tile->size / (int64_t)sizeof *steps};
    for (int r = 0; r < n_rows; r++) {
        const struct graft_row *row = &tile->rows[r];
        float(*out)[GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING] = &factors->steps[(ptrdiff_t)r * n_tokens];
        float own[GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING], numbers[GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING];
        if (is_each && n_tokens == 1) { /* with a constant 1 the compiler drops the loop over tokens */
            graft_row_scales_times(tile->self, row, group, there, (struct graft_row_units){steps, 1, 0}, out[0]);
        } else if (is_each) {
            graft_row_scales_times(tile->self, row, group, there, units, out[0]);
        } else if (!is_one) {
            graft_row_scales(tile->self, row, group, there, own);
            graft_row_integers_repeat(own, run->left, most, n, numbers);
        }
        graft_row_floats scales = graft_vector_all(is_one ? graft_row_scale(tile->self, row, group) : 0.0F);
        for (int64_t part = 0; part < n && !is_each; part += GRAFT_ROW_LANES) {
            scales = is_one ? scales : graft_row_load(numbers + part, GRAFT_ROW_LANES);
            graft_row_integers_weigh(tile, scales, n_tokens, steps, part, out);
        }
        if (shape.stored) {
            graft_row_zeros(tile->self, row, group, there, is_each ? factors->zeros[r] : own);
        }
        if (shape.stored && !is_each) {
            graft_row_integers_repeat(own, run->left, most, n, factors->zeros[r]);
        }
    }
}

/* [any] totals [n_rows, n_tokens] += the products of block b of a tile; its first part is number `part` of the
 * factors. */
GRAFT_ROW_INLINE void graft_row_integers_block(const struct graft_row_integers_tile *tile,
                                               const struct graft_row_integers_shape shape, const int n_rows,
                                               const int n_tokens, const struct graft_row_steps *factors, int64_t part,
                                               int64_t b, graft_row_floats *totals) {
    static const graft_row_ints none = {0};
    const char *inputs = tile->inputs + b * graft_row_integers_bytes(shape.kind, shape.lines);
    graft_row_ints sums[GRAFT_ROW_SUMS];
    for (int s = 0; s < n_rows * n_tokens; s++) {
        sums[s] = shape.stored ? none : graft_row_integers_load(inputs + s % n_tokens * tile->size);
    }
    for (int l = 0; l < shape.lines; l++) {
        const int64_t byte = (b * shape.lines + l) * GRAFT_ROW_INTEGERS_BYTES;
        const char *numbers = inputs + GRAFT_ROW_INTEGERS_BYTES + l * 2 * graft_row_integers_line(shape.kind);
        graft_row_integers_add(tile, shape, n_rows, n_tokens, byte, numbers,
                               l * GRAFT_ROW_INTEGERS_BYTES % GRAFT_ROW_LINE == 0, sums);
    }
    for (int s = 0; s < n_rows * n_tokens; s++) {
        graft_row_floats sum = __builtin_convertvector(sums[s], graft_row_floats);
        if (shape.stored) {
            sum =
                graft_vector_add_product(sum, -graft_row_spread(&factors->zeros[s / n_tokens][part], shape.many),
                                         (graft_row_floats)graft_row_integers_load(inputs + s % n_tokens * tile->size));
        }
        totals[s] = graft_vector_add_product(totals[s], sum, graft_row_spread(&factors->steps[s][part], shape.many));
    }
}

/* [any] Copies the ends of a tile's rows, from byte `byte` on, and pads them with zeros. */
GRAFT_ROW_INLINE void graft_row_integers_ends(const struct graft_row_integers_tile *tile, const int n_rows,
                                              int64_t byte, struct graft_row_integers_end *ends) {
    for (int r = 0; r < n_rows; r++) { /* with a single store, because a vector load of several stores would stall */
        const graft_row_ints end =
            graft_row_integers_load_some(tile->rows[r].codes + byte, tile->self->row_bytes - byte);
        memcpy(ends[r].codes, &end, sizeof end);
    }
}

/* [any] Redirects the tile's rows to their copies in `ends`, so that offset `byte` of a row is the first byte of its
 * copy. */
GRAFT_ROW_INLINE void graft_row_integers_go_on(struct graft_row_integers_tile *tile, const int n_rows, int64_t byte,
                                               const struct graft_row_integers_end *ends) {
    for (int r = 0; r < n_rows; r++) { /* computed as integers, since no array begins there */
        tile->rows[r].codes = (const unsigned char *)((uintptr_t)ends[r].codes - (uintptr_t)byte);
    }
}

/* [any] Computes y of a tile, and changes the tile's rows. */
GRAFT_ROW_INLINE void graft_row_integers_multiply(struct graft_row_integers_tile *tile,
                                                  const struct graft_row_integers_shape shape, const int n_rows,
                                                  const int n_tokens, float *y) {
    const struct graft_coded *self = tile->self;
    const int64_t block = graft_row_integers_line(shape.kind) * shape.lines;
    const int64_t blocks = graft_row_integers_count(self, shape.kind), whole = self->columns / block;
    const int64_t end = whole * GRAFT_ROW_INTEGERS_BYTES; /* blocks end with lines */
    const int64_t most = shape.many == 1 ? (self->group_size + block - 1) / block : 1;
    struct graft_row_steps factors;
    struct graft_row_integers_end ends[GRAFT_ROW_MOST];
    graft_row_floats totals[GRAFT_ROW_SUMS] = {{0}};
    if (shape.lines == 1 && whole < blocks) {
        graft_row_integers_ends(tile, n_rows, end, ends);
    }
    struct graft_row_integers_run run = {0, 0, 0, 0, most, most};
    for (; run.b < blocks; run.b += run.n) {
        run.n = graft_coded_left(blocks, run.b, GRAFT_ROW_GROUPS / shape.many);
        run.groups = run.n <= run.left ? 1 : 1 + (run.n - run.left + most - 1) / most;
        graft_row_integers_steps_at(tile, shape, n_rows, n_tokens, &run, &factors);
        for (int64_t i = 0; i < run.n; i++) {
            if (shape.lines == 1 && run.b + i == whole) {
                graft_row_integers_go_on(tile, n_rows, end, ends);
            }
            graft_row_integers_block(tile, shape, n_rows, n_tokens, &factors, i * shape.many, run.b + i, totals);
        }
        run.left += (run.groups - 1) * most - run.n;
        run.group += run.groups - (run.left > 0);
        run.left = run.left > 0 ? run.left : most;
    }
    for (int s = 0; s < n_rows * n_tokens; s++) {
        y[s % n_tokens * self->y_stride + s / n_tokens * tile->part] = graft_row_sum(totals[s]);
    }
}

/* [any] Computes y of n rows and `n_tokens` tokens in tiles of `n_rows` rows; remaining rows are not computed. */
GRAFT_ROW_INLINE void graft_row_integers_rows(const struct graft_coded *self, const char *inputs,
                                              const struct graft_row_integers_shape shape, const int n_rows,
                                              const int n_tokens, int64_t first, int64_t n, float *y) {
    struct graft_row_integers_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.inputs = inputs;
    tile.size = graft_row_integers_size(self, shape.kind);
    tile.steps = (const float *)(const void *)(inputs + graft_row_integers_blocks(self, shape.kind));
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_integers_multiply(&tile, shape, n_rows, n_tokens, y + at);
    }
}

/* [any] The number of rows to multiply together for 1, 2 or 4 tokens: as many as registers allow and, for a single
 * token, not more streams through memory than the processor reads fast. */
GRAFT_ROW_INLINE int graft_row_integers_side(const struct graft_row_integers_shape shape, const int n_tokens) {
    if (n_tokens == 1) {
        return shape.is_near && !graft_row_integers_halves(shape.kind) ? GRAFT_ROW_NEAR_ROWS : 3;
    }
    return n_tokens == 2 ? (GRAFT_ROW_LANES == 16 ? 4 : 3) : (GRAFT_ROW_LANES == 16 ? 3 : 2);
}

/* [any] Computes y for 1, 2 or 4 tokens: tiles, then the remaining rows one by one. */
GRAFT_ROW_INLINE void graft_row_integers_some(const struct graft_coded *self, const char *inputs,
                                              const struct graft_row_integers_shape shape, const int n_tokens,
                                              int64_t first, int64_t n, float *y) {
    const int n_rows = graft_row_integers_side(shape, n_tokens);
    const int64_t size = graft_row_integers_size(self, shape.kind), left = n % n_rows, done = n - left;
    graft_row_integers_rows(self, inputs, shape, n_rows, n_tokens, first, n, y);
    for (int t = 0; t < n_tokens; t++) {
        graft_row_integers_rows(self, inputs + t * size, shape, 1, 1, first + done, left,
                                y + t * self->y_stride + done);
    }
}

/* [any] Does the same, with codes prefetched as this processor prefers. With 4-bit codes, several tokens are limited by
 * arithmetic, not by memory. */
GRAFT_ROW_INLINE void graft_row_integers_fetched(const struct graft_coded *self, const char *inputs,
                                                 const struct graft_row_integers_shape shape, const int n_tokens,
                                                 int64_t first, int64_t n, float *y) {
    struct graft_row_integers_shape near = shape;
    near.is_near = 1;
    if ((n_tokens == 1 || !graft_row_integers_halves(shape.kind)) && graft_row_is_near()) {
        graft_row_integers_some(self, inputs, near, n_tokens, first, n, y);
    } else {
        graft_row_integers_some(self, inputs, shape, n_tokens, first, n, y);
    }
}

/* [any] Does the same for one kind of codes, with constant numbers of lines and groups in a block. */
GRAFT_ROW_INLINE void graft_row_integers_shaped(const struct graft_coded *self, const char *inputs, const int kind,
                                                const int lines, const int many, const int n_tokens, int64_t first,
                                                int64_t n, float *y) {
    const struct graft_row_integers_shape stored = {kind, lines, many, 1, 0}, same = {kind, lines, many, 0, 0};
    if (kind != GRAFT_ROW_KIND_INT8 && kind != GRAFT_ROW_KIND_FLOAT4 && graft_coded_has_zeros(self)) {
        graft_row_integers_fetched(self, inputs, stored, n_tokens, first, n, y);
    } else {
        graft_row_integers_fetched(self, inputs, same, n_tokens, first, n, y);
    }
}

/* [any] Does the same for one kind of codes. */
GRAFT_ROW_INLINE void graft_row_integers_of(const struct graft_coded *self, const char *inputs, const int kind,
                                            const int n_tokens, int64_t first, int64_t n, float *y) {
    const int64_t line = graft_row_integers_line(kind);
    const int most = (int)(GRAFT_ROW_INTEGERS_BLOCK / line);
    const int floats = (int)(line / GRAFT_ROW_INTEGERS_FLOATS);
    if (kind == GRAFT_ROW_KIND_FLOAT4 && self->group_size == GRAFT_ROW_INTEGERS_FLOATS) {
        graft_row_integers_shaped(self, inputs, kind, 1, floats, n_tokens, first, n, y);
    } else if (kind == GRAFT_ROW_KIND_FLOAT4) {
        graft_row_integers_shaped(self, inputs, kind, 1, 2 * floats, n_tokens, first, n, y);
    } else if (kind == GRAFT_ROW_KIND_UINT4 && self->group_size == line / 4) {
        graft_row_integers_shaped(self, inputs, kind, 1, 4, n_tokens, first, n, y);
    } else if (kind == GRAFT_ROW_KIND_UINT4 && self->group_size == line / 2) {
        graft_row_integers_shaped(self, inputs, kind, 1, 2, n_tokens, first, n, y);
    } else if (most > 1 && !graft_row_integers_whole(self, kind)) {
        graft_row_integers_shaped(self, inputs, kind, 1, 1, n_tokens, first, n, y);
    } else {
        graft_row_integers_shaped(self, inputs, kind, most, 1, n_tokens, first, n, y);
    }
}

/* Defines the function for this number of tokens. With one function for all numbers, compilers keep sums on the
 * stack. */
#define GRAFT_ROW_INTEGERS_SOME(format, kind, n_tokens)                                           \
    static __attribute__((noinline)) void format##_multiply_##n_tokens(                           \
        const struct graft_coded *self, const char *inputs, int64_t first, int64_t n, float *y) { \
        graft_row_integers_of(self, inputs, kind, n_tokens, first, n, y);                         \
    }

/* Defines format##_prepared for a kind of codes. */
#define GRAFT_ROW_INTEGERS(format, kind)                                                                      \
    GRAFT_ROW_INTEGERS_SOME(format, kind, 1)                                                                  \
    GRAFT_ROW_INTEGERS_SOME(format, kind, 2)                                                                  \
    GRAFT_ROW_INTEGERS_SOME(format, kind, 4)                                                                  \
    GRAFT_ROW_PREPARED_AS(format##_prepared, graft_row_integers_size(self, kind),                             \
                          graft_row_integers_prepare(self, kind, x, inputs),                                  \
                          graft_row_by_tokens(self, graft_row_integers_size(self, kind), format##_multiply_1, \
                                              format##_multiply_2, format##_multiply_4, first, n, inputs, tokens, y))

#endif

#endif
