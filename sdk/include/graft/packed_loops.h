/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of packed.h, for a format that says how to unpack. To be included by a file that is compiled once for each
 * instruction set: they are written in the compiler's vectors (gcc 12, clang), which become those of the target.
 *
 * That file defines a graft_packed_codes and with it, by GRAFT_PACKED_LOOPS, its table. A sum goes over groups, and the
 * inputs in each, in their order: nothing depends on the number of tokens or threads.
 */
#ifndef GRAFT_PACKED_LOOPS_H
#define GRAFT_PACKED_LOOPS_H

#include "packed.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_PACKED_LANES = 16, GRAFT_PACKED_VECTORS = GRAFT_PACKED_STRIP / GRAFT_PACKED_LANES };

#define GRAFT_PACKED_INLINE static inline __attribute__((always_inline, unused))

/* Sixteen codes. */
typedef int32_t graft_packed_ints __attribute__((vector_size(64)));
/* Sixteen numbers. */
typedef float graft_packed_floats __attribute__((vector_size(64)));

/* [any] The codes of input `input` for outputs [first, first + n), in order; n is a constant where that is a whole
 * strip. Lanes behind n are anything. */
typedef void (*graft_packed_codes)(const struct graft_packed *self, int64_t input, int64_t first, int64_t n,
                                   graft_packed_ints codes[GRAFT_PACKED_VECTORS]);

/* [any] The same of the zero points of a group, as they are stored. */
typedef void (*graft_packed_zeros)(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                   graft_packed_ints codes[GRAFT_PACKED_VECTORS]);

/* [any] Half precision widened: exponents are moved by 112, numbers below 2^-14 included. */
GRAFT_PACKED_INLINE float graft_packed_half(uint16_t half) {
    const uint32_t size = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t infinite = size | 0x7f800000U;
    float number;
    memcpy(&number, &size, sizeof number);
    number *= 5.192296858534828e33F; /* 2^112 */
    if ((half & 0x7c00) == 0x7c00) {
        memcpy(&number, &infinite, sizeof number);
    }
    return sign != 0 ? -number : number;
}

/* [any] Scales `at` to `at + n - 1`; lanes behind n are 0. */
GRAFT_PACKED_INLINE void graft_packed_scales(const struct graft_row_block *scales, int64_t at, int64_t n,
                                             graft_packed_floats out[GRAFT_PACKED_VECTORS]) {
    float numbers[GRAFT_PACKED_STRIP] = {0};
    const uint16_t *halves = (const uint16_t *)scales->data + at;
    switch (scales->dtype) {
    case GRAFT_DTYPE_F16:
        for (int64_t i = 0; i < n; i++) {
            numbers[i] = graft_packed_half(halves[i]);
        }
        break;
    case GRAFT_DTYPE_BF16:
        for (int64_t i = 0; i < n; i++) {
            uint32_t bits = (uint32_t)halves[i] << 16;
            memcpy(&numbers[i], &bits, sizeof bits);
        }
        break;
    default:
        memcpy(numbers, (const float *)scales->data + at, (size_t)n * sizeof(float));
    }
    memcpy(out, numbers, sizeof numbers);
}

/* A group's scales and zero points, both as f32. */
struct graft_packed_group {
    graft_packed_floats scales[GRAFT_PACKED_VECTORS]; /* of the outputs */
    graft_packed_floats zeros[GRAFT_PACKED_VECTORS];  /* with what is to be added to them */
    int64_t begin;                                    /* its first input, in their order */
    int64_t end;                                      /* one behind the last */
};

GRAFT_ASSERT_SIZE(struct graft_packed_group, 576);

/* [any] Fills in a group, for outputs [first, first + n). */
GRAFT_PACKED_INLINE void graft_packed_group_at(const struct graft_packed *self, graft_packed_zeros unpack_zeros,
                                               int64_t group, int64_t first, int64_t n, struct graft_packed_group *at) {
    graft_packed_ints codes[GRAFT_PACKED_VECTORS];
    int64_t end = (group + 1) * self->group_size;
    at->begin = self->starts != NULL ? self->starts[group] : group * self->group_size;
    at->end = self->starts != NULL ? self->starts[group + 1] : end < self->in_features ? end : self->in_features;
    graft_packed_scales(self->scales, group * self->out_features + first, n, at->scales);
    unpack_zeros(self, group, first, n, codes);
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        at->zeros[v] = __builtin_convertvector(codes[v] + self->zero_offset, graft_packed_floats);
    }
}

/* [any] y = W x: of a group sum(q x) * scale - sum(x) * zero * scale, which takes one operation for each weight. */
GRAFT_PACKED_INLINE void graft_packed_multiply(const struct graft_packed *self, graft_packed_codes unpack,
                                               graft_packed_zeros unpack_zeros, int64_t first, int64_t n,
                                               const float *x, float *y) {
    graft_packed_floats totals[GRAFT_PACKED_VECTORS] = {{0}};
    float numbers[GRAFT_PACKED_STRIP];
    for (int64_t group = 0; group < self->groups; group++) {
        graft_packed_floats sums[GRAFT_PACKED_VECTORS] = {{0}};
        struct graft_packed_group at;
        float sum = 0.0F;
        graft_packed_group_at(self, unpack_zeros, group, first, n, &at);
        for (int64_t i = at.begin; i < at.end; i++) {
            int64_t input = self->order != NULL ? self->order[i] : i;
            graft_packed_ints codes[GRAFT_PACKED_VECTORS];
            unpack(self, input, first, n, codes);
            for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
                sums[v] += __builtin_convertvector(codes[v], graft_packed_floats) * x[input];
            }
            sum += x[input];
        }
        for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
            totals[v] += at.scales[v] * (sums[v] - at.zeros[v] * sum);
        }
    }
    memcpy(numbers, totals, sizeof numbers);
    memcpy(y, numbers, (size_t)n * sizeof *y);
}

/* [any] Rows of W: exact, as a difference of codes times a scale of 16 bits has at most 20 digits. */
GRAFT_PACKED_INLINE void graft_packed_widen_rows(const struct graft_packed *self, graft_packed_codes unpack,
                                                 graft_packed_zeros unpack_zeros, int64_t first, int64_t n,
                                                 float *out) {
    for (int64_t group = 0; group < self->groups; group++) {
        struct graft_packed_group at;
        graft_packed_group_at(self, unpack_zeros, group, first, n, &at);
        for (int64_t i = at.begin; i < at.end; i++) {
            int64_t input = self->order != NULL ? self->order[i] : i;
            graft_packed_ints codes[GRAFT_PACKED_VECTORS];
            graft_packed_floats numbers[GRAFT_PACKED_VECTORS];
            float column[GRAFT_PACKED_STRIP];
            unpack(self, input, first, n, codes);
            for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
                numbers[v] = at.scales[v] * (__builtin_convertvector(codes[v], graft_packed_floats) - at.zeros[v]);
            }
            memcpy(column, numbers, sizeof column);
            for (int64_t r = 0; r < n; r++) {
                out[r * self->in_features + input] = column[r];
            }
        }
    }
}

/* [any] Codes that lie along outputs, `words` being those from the first output on: slot `order[k]` of a word holds its
 * output k. */
GRAFT_PACKED_INLINE void graft_packed_across(const int32_t *words, int32_t bits, const int32_t *order, int64_t n,
                                             graft_packed_ints codes[GRAFT_PACKED_VECTORS]) {
    const int32_t slots = 32 / bits;
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        int32_t lanes[GRAFT_PACKED_LANES];
        int32_t shifts[GRAFT_PACKED_LANES];
        graft_packed_ints numbers, by;
        for (int l = 0; l < GRAFT_PACKED_LANES; l++) {
            int64_t output = v * GRAFT_PACKED_LANES + l;
            lanes[l] = output < n ? words[output / slots] : 0;
            shifts[l] = order[l % slots] * bits;
        }
        memcpy(&numbers, lanes, sizeof numbers);
        memcpy(&by, shifts, sizeof by);
        codes[v] = (numbers >> by) & ((1 << bits) - 1);
    }
}

/* The table `name_` of a format: "scalar", "avx2" or "avx512" by the target. */
#if defined(__AVX512F__)
#define GRAFT_PACKED_ISA "avx512"
#define GRAFT_PACKED_TABLE(format) format##_loops_avx512
#elif defined(__AVX2__)
#define GRAFT_PACKED_ISA "avx2"
#define GRAFT_PACKED_TABLE(format) format##_loops_avx2
#else
#define GRAFT_PACKED_ISA "scalar"
#define GRAFT_PACKED_TABLE(format) format##_loops_scalar
#endif

/* Defines it: whole strips, and what is left of one. */
#define GRAFT_PACKED_LOOPS(format, unpack, unpack_zeros)                                                        \
    static void multiply(const struct graft_packed *self, int64_t first, int64_t n, const float *x, float *y) { \
        if (n == GRAFT_PACKED_STRIP) {                                                                          \
            graft_packed_multiply(self, unpack, unpack_zeros, first, GRAFT_PACKED_STRIP, x, y);                 \
        } else {                                                                                                \
            graft_packed_multiply(self, unpack, unpack_zeros, first, n, x, y);                                  \
        }                                                                                                       \
    }                                                                                                           \
    static void widen(const struct graft_packed *self, int64_t first, int64_t n, float *out) {                  \
        if (n == GRAFT_PACKED_STRIP) {                                                                          \
            graft_packed_widen_rows(self, unpack, unpack_zeros, first, GRAFT_PACKED_STRIP, out);                \
        } else {                                                                                                \
            graft_packed_widen_rows(self, unpack, unpack_zeros, first, n, out);                                 \
        }                                                                                                       \
    }                                                                                                           \
    const struct graft_packed_loops GRAFT_PACKED_TABLE(format) = {GRAFT_PACKED_ISA, multiply, widen}

#ifdef __cplusplus
}
#endif

#endif
