/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops, one table an instruction set. All of them take rows of int8 as they lie in the file.
 *
 * A sum goes over the columns in an order that depends on the table alone: not on how many rows or tokens are done in
 * one call, so not on the number of threads either.
 */
#ifndef INT8_LINEAR_LOOPS_H
#define INT8_LINEAR_LOOPS_H

#include <stdint.h>

/* Strides are from one row to the next, in elements. */
struct int8_dot {
    const int8_t *w; /* [rows, columns] */
    int64_t w_stride;
    const float *x; /* [tokens, columns] */
    int64_t x_stride;
    float *sums; /* [tokens, rows] */
    int64_t sums_stride;
    int64_t rows;
    int64_t columns;
    int64_t tokens;
};

struct int8_loops {
    const char *name;
    /* sums[t, r] = sum over k of w[r, k] * x[t, k], in f32. */
    void (*dot)(const struct int8_dot *dot);
    /* The largest absolute value; NaN if there is one among them. row [count], 0 for none. */
    float (*largest)(const float *row, int64_t count);
    /* out[i] = row[i] * factor rounded to the nearest integer, ties to even, within -127 to 127. row [count]. */
    void (*quantize)(const float *row, int64_t count, float factor, int8_t *out);
};

/* Plain C: the reference for the others. */
extern const struct int8_loops int8_loops_scalar;

#if defined(__x86_64__)
extern const struct int8_loops int8_loops_avx2;
extern const struct int8_loops int8_loops_avx512;
#endif

/* [any] The best that this processor runs and GRAFT_ISA, if it is set, allows. */
const struct int8_loops *int8_loops_get(void);

/* [any] Table number `i` of those that this processor runs, plain C first; NULL behind the last. */
const struct int8_loops *int8_loops_at(int32_t i);

#endif
