/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of packed.h, for a format that says how to unpack. To be included by a file that is compiled once for each
 * instruction set.
 *
 * That file defines a graft_packed_unpack and a graft_packed_unpack_zeros (packed_format.h), and with them, by
 * GRAFT_PACKED_LOOPS, its table.
 */
#ifndef GRAFT_PACKED_LOOPS_H
#define GRAFT_PACKED_LOOPS_H

#include "packed_few.h"
#include "packed_turned.h"
#include "packed_widen.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* W in one type: rows, and portions. */
#define GRAFT_PACKED_ROWS_OF(name, format, narrow)                                                             \
    static void name##_widen(const struct graft_packed *self, int64_t first, int64_t n, void *out) {           \
        GRAFT_PACKED_BY_BITS(self, graft_packed_widen_any(self, format, bits, narrow, first, n, (char *)out)); \
    }                                                                                                          \
    static void name##_turn(const struct graft_packed *self, const struct graft_turned_portion *portion) {     \
        GRAFT_PACKED_BY_BITS(self, graft_packed_turned_any(self, format, bits, narrow, portion));              \
    }

/* Where the target multiplies neither bf16 nor integers, few tokens are multiplied as in f32: by the same functions. As
 * integers only codes of 4 bits are, of groups that are not so large that one input makes all others small. */
#if defined(__AVX512BF16__)
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format) GRAFT_PACKED_PRODUCTS(rounded, format, 1)
#define GRAFT_PACKED_ROUNDED(function) rounded_##function
#define GRAFT_PACKED_ROUNDED_GROUPS INT64_MAX
#elif GRAFT_PACKED_INTEGERS
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format) GRAFT_PACKED_PRODUCTS(rounded, format, bits == 4)
#define GRAFT_PACKED_ROUNDED(function) rounded_##function
#define GRAFT_PACKED_ROUNDED_GROUPS 128
#else
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format)
#define GRAFT_PACKED_ROUNDED(function) exact_##function
#define GRAFT_PACKED_ROUNDED_GROUPS INT64_MAX
#endif

/* Defines it. */
#define GRAFT_PACKED_LOOPS(name, unpack, unpack_zeros, steps, pairs, one)                             \
    static const struct graft_packed_format format = {unpack, unpack_zeros, steps, pairs, one};       \
    GRAFT_PACKED_PRODUCTS(exact, format, 0)                                                           \
    GRAFT_PACKED_ROUNDED_PRODUCTS(format)                                                             \
    GRAFT_PACKED_ROWS_OF(exact, format, 0)                                                            \
    GRAFT_PACKED_ROWS_OF(rounded, format, 1)                                                          \
    const struct graft_packed_loops GRAFT_PACKED_TABLE(name) = {                                      \
        GRAFT_PACKED_ISA,                                                                             \
        {exact_prepare, exact_multiply, exact_widen, exact_turn},                                     \
        {GRAFT_PACKED_ROUNDED(prepare), GRAFT_PACKED_ROUNDED(multiply), rounded_widen, rounded_turn}, \
        GRAFT_PACKED_ROUNDED_GROUPS,                                                                  \
    }

#ifdef __cplusplus
}
#endif

#endif
