/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are compiled once for each instruction set. They add integers, so all of them give the same bits. */
#ifndef BITLINEAR_LOOPS_H
#define BITLINEAR_LOOPS_H

#include <stdint.h>

#include "graft/isa.h"

/* Outputs whose codes share a byte; the most tokens multiplied together; the multiple of bytes to which a token's
 * inputs are padded with zeros, which is the longest vector. */
enum { BITLINEAR_PARTS = 4, BITLINEAR_TOKENS = 4, BITLINEAR_LINE = 64 };

/* The most inputs for which 32-bit sums of codes in the upper bits of a byte cannot overflow, and are exact in f32. */
enum { BITLINEAR_MAX_INPUTS = 1 << 16 };

/* Inputs of several tokens, rounded to 8-bit integers. */
struct bitlinear_inputs {
    const int8_t *integers; /* [tokens, stride] */
    int64_t stride;         /* a multiple of BITLINEAR_LINE */
    int64_t columns;        /* number of inputs; zeros follow up to `stride` */
};

struct bitlinear_loops {
    /* [any] The largest absolute value of x [n]; NaN if x contains one. */
    float (*largest)(const float *x, int64_t n);
    /* [any] integers [n] = x [n] * factor, rounded to nearest, ties to even, clamped to -128 .. 127. Returns their
     * sum. */
    int32_t (*round)(const float *x, int64_t n, float factor, int8_t *integers);
    /* [any] sums [tokens, BITLINEAR_PARTS, rows] of codes, 0 to 3, times integers. Row r of `codes` [rows, columns] has
     * the codes of BITLINEAR_PARTS outputs, the first in the lowest bits. `tokens` is at most BITLINEAR_TOKENS. */
    void (*multiply)(const uint8_t *codes, int64_t rows, const struct bitlinear_inputs *inputs, int64_t tokens,
                     int32_t *sums);
};

/* The loops in plain C, and those for instruction sets that this processor may have. */
GRAFT_ISA_ALL_DECLARE(const struct bitlinear_loops, bitlinear_loops);

#endif
