/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are compiled once for each instruction set. Their sums are of integers, so all give the same bits. */
#ifndef BITLINEAR_LOOPS_H
#define BITLINEAR_LOOPS_H

#include <stdint.h>

#include "graft/isa.h"

/* Outputs whose codes share a byte; tokens that are multiplied side by side, at most; and what the inputs of a token
 * are filled up to, with zeros: bytes of the longest vector. */
enum { BITLINEAR_PARTS = 4, BITLINEAR_TOKENS = 4, BITLINEAR_LINE = 64 };

/* So many inputs have sums of 32 bits, as they come of codes in the upper bits of a byte, and such that f32 holds. */
enum { BITLINEAR_MAX_INPUTS = 1 << 16 };

/* Inputs as integers of 8 bits, of some tokens. */
struct bitlinear_inputs {
    const int8_t *integers; /* [tokens, stride] */
    int64_t stride;         /* a multiple of BITLINEAR_LINE */
    int64_t columns;        /* that count; zeros behind them */
};

struct bitlinear_loops {
    /* [any] The largest absolute value of x [n], or NaN if there is one among them. */
    float (*largest)(const float *x, int64_t n);
    /* [any] integers [n] = x [n] * factor rounded to the nearest, ties to even, within -128 to 127; gives their sum. */
    int32_t (*round)(const float *x, int64_t n, float factor, int8_t *integers);
    /* [any] sums [tokens, BITLINEAR_PARTS, rows] of codes, 0 to 3, times integers: row r of `codes` [rows, columns] has
     * those of BITLINEAR_PARTS outputs, the first in the lowest bits. `tokens`: BITLINEAR_TOKENS at most. */
    void (*multiply)(const uint8_t *codes, int64_t rows, const struct bitlinear_inputs *inputs, int64_t tokens,
                     int32_t *sums);
};

/* Plain C, and what this processor may run beside it. */
GRAFT_ISA_ALL_DECLARE(const struct bitlinear_loops, bitlinear_loops);

#endif
