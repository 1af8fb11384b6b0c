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
#include "packed_words_many.h"

#ifdef __cplusplus
extern "C" {
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

/* What few tokens multiply where f32 is not asked for: codes of 4 bits as integers, in groups that are not so large
 * that one input makes all others small; the rest as bf16 or, where the target has no products of those, as in f32. */
enum { GRAFT_PACKED_INTEGERS_GROUP = 128 };
#if defined(__AVX512BF16__)
#define GRAFT_PACKED_ELSE GRAFT_PACKED_BRAINS
#define GRAFT_PACKED_ROUNDED_GROUPS INT64_MAX
#else
#define GRAFT_PACKED_ELSE GRAFT_PACKED_EXACT
#define GRAFT_PACKED_ROUNDED_GROUPS GRAFT_PACKED_INTEGERS_GROUP
#endif

/* [any] Likewise `call`, in which `rounded` is a constant, too. Where the rest is as in f32, large groups do not come
 * here. */
#define GRAFT_PACKED_BY_FORM(self, call)                                                                      \
    GRAFT_PACKED_BY_BITS(self, {                                                                              \
        if (bits == 4 &&                                                                                      \
            (GRAFT_PACKED_ELSE == GRAFT_PACKED_EXACT || (self)->group_size <= GRAFT_PACKED_INTEGERS_GROUP)) { \
            const int rounded = GRAFT_PACKED_INTEGERS;                                                        \
            call;                                                                                             \
        } else {                                                                                              \
            const int rounded = GRAFT_PACKED_ELSE;                                                            \
            call;                                                                                             \
        }                                                                                                     \
    })
#define GRAFT_PACKED_BY_BITS_EXACT(self, call)  \
    GRAFT_PACKED_BY_BITS(self, {                \
        const int rounded = GRAFT_PACKED_EXACT; \
        call;                                   \
    })

/* Products of one arithmetic, BY_FORM or BY_BITS_EXACT. */
#define GRAFT_PACKED_PRODUCTS(name, format, by)                                                                     \
    static void name##_prepare(const struct graft_packed *self, const float *x, struct graft_packed_input *input,   \
                               int64_t t) {                                                                         \
        GRAFT_PACKED_##by(self, graft_packed_prepare_row(self, bits, rounded, x, input, t));                        \
    }                                                                                                               \
    static void name##_multiply(const struct graft_packed *self, const struct graft_packed_input *input, int64_t t, \
                                int64_t tokens, int64_t first, int64_t n, float *y) {                               \
        GRAFT_PACKED_##by(self,                                                                                     \
                          graft_packed_multiply_any(self, format, bits, rounded, input, t, tokens, first, n, y));   \
    }

/* W in one type: rows, and portions. */
#define GRAFT_PACKED_ROWS_OF(name, format, narrow)                                                             \
    static void name##_widen(const struct graft_packed *self, int64_t first, int64_t n, void *out) {           \
        GRAFT_PACKED_BY_BITS(self, graft_packed_widen_any(self, format, bits, narrow, first, n, (char *)out)); \
    }                                                                                                          \
    static void name##_turn(const struct graft_packed *self, const struct graft_turned_portion *portion) {     \
        GRAFT_PACKED_BY_BITS(self, graft_packed_turned_any(self, format, bits, narrow, portion));              \
    }

/* Few tokens where f32 is not asked for; in plain C they are multiplied as in f32, by the same functions. */
#if defined(__AVX2__)
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format) GRAFT_PACKED_PRODUCTS(rounded, format, BY_FORM)
#define GRAFT_PACKED_ROUNDED(function) rounded_##function
#else
#define GRAFT_PACKED_ROUNDED_PRODUCTS(format)
#define GRAFT_PACKED_ROUNDED(function) exact_##function
#endif

/* Defines it. */
#define GRAFT_PACKED_LOOPS(name, unpack, unpack_zeros, steps, pairs, one)                             \
    static const struct graft_packed_format format = {unpack, unpack_zeros, steps, pairs, one};       \
    GRAFT_PACKED_PRODUCTS(exact, format, BY_BITS_EXACT)                                               \
    GRAFT_PACKED_ROUNDED_PRODUCTS(format)                                                             \
    GRAFT_PACKED_ROWS_OF(exact, format, 0)                                                            \
    GRAFT_PACKED_ROWS_OF(rounded, format, 1)                                                          \
    GRAFT_MANY_PAIRS(many, GRAFT_PACKED_MANY(many, format, 0))                                        \
    GRAFT_MANY_BYTES_4(bytes, GRAFT_PACKED_MANY(bytes, format, 1))                                    \
    const struct graft_packed_loops GRAFT_ISA_ALL_NAME(name##_loops) = {                              \
        GRAFT_ISA_TARGET,                                                                             \
        {exact_prepare, exact_multiply, exact_widen, exact_turn},                                     \
        {GRAFT_PACKED_ROUNDED(prepare), GRAFT_PACKED_ROUNDED(multiply), rounded_widen, rounded_turn}, \
        GRAFT_PACKED_ROUNDED_GROUPS,                                                                  \
        &many,                                                                                        \
        &bytes,                                                                                       \
    }

#ifdef __cplusplus
}
#endif

#endif
