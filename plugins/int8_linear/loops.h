/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INT8_LINEAR_LOOPS_H
#define INT8_LINEAR_LOOPS_H

#include <stdint.h>

/* One for each instruction set. */
struct int8_loops {
    /* [any] The largest absolute value of weights [n]; NaN if there is one among them, 0 if there are none. */
    float (*largest)(const float *weights, int64_t n);
    /* [any] codes[i] = weights[i] * factor rounded to the nearest integer, ties to even, within -127 to 127. */
    void (*quantize)(const float *weights, int64_t n, float factor, int8_t *codes);
};

/* [any] The best that this processor runs and GRAFT_ISA, if it is set, allows. */
const struct int8_loops *int8_loops_get(void);

/* [any] Table number `i` of those that this processor runs, plain C first; NULL behind the last. */
const struct int8_loops *int8_loops_at(int32_t i);

#endif
