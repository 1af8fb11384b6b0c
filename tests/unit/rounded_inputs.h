/* SPDX-License-Identifier: Apache-2.0 */
/* The rounded inputs that coded weights are multiplied by, computed in simple code. */
#ifndef GRAFT_TESTS_ROUNDED_INPUTS_H
#define GRAFT_TESTS_ROUNDED_INPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Rounds to the nearest bf16, ties to even. */
static inline float rounded(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* A power of two that scales the largest number to between 2^14 and 2^15. */
static inline float step_of(float largest) {
    int exponent;
    (void)frexpf(largest * (1.0F + 1.0F / 32768.0F), &exponent);
    return ldexpf(1.0F, exponent - 15);
}

/* out [n]: x after the numbers of each block became integers of 16 or 8 bits times a common step. The quotient is
 * computed as in the loops, since a number halfway between two integers might otherwise become the other one. */
static inline void round_to_integers(const float *x, int64_t n, int64_t block, int bits, float *out) {
    for (int64_t first = 0; first < n; first += block) {
        const int64_t end = first + block < n ? first + block : n;
        float largest = 0.0F;
        for (int64_t i = first; i < end; i++) {
            largest = fmaxf(largest, fabsf(x[i]));
        }
        const float step = bits == 8 ? largest / 127.0F : step_of(largest);
        const float factor = bits == 8 ? 127.0F / largest : 1.0F / step;
        for (int64_t i = first; i < end; i++) {
            out[i] = rintf(x[i] * factor) * step;
        }
    }
}

/* The number of inputs in a block of many tokens: as many as possible of one group, at most 128. */
static inline int64_t block_of_many(int64_t inputs, int64_t groups, int64_t group_size) {
    int64_t block = 128;
    while (inputs % block != 0 || (groups > 1 && group_size % block != 0)) {
        block /= 2;
    }
    return block;
}

#endif
