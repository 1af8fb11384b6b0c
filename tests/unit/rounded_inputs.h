/* SPDX-License-Identifier: Apache-2.0 */
/* What coded weights are multiplied by in place of f32: in plain words. */
#ifndef GRAFT_TESTS_ROUNDED_INPUTS_H
#define GRAFT_TESTS_ROUNDED_INPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* To the nearest bf16, ties to even. */
static inline float rounded(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* A power of two of which the largest number has 2^14 to 2^15. */
static inline float step_of(float largest) {
    int exponent;
    (void)frexpf(largest * (1.0F + 1.0F / 32768.0F), &exponent);
    return ldexpf(1.0F, exponent - 15);
}

/* Number i of x [n], where those of a block become integers of 16 or 8 bits times a step that they share. Products, as
 * the loops have them: by a quotient, a number halfway between two integers may become the other one. */
static inline float as_integer(const float *x, int64_t n, int64_t i, int64_t block, int bits) {
    float largest = 0.0F;
    for (int64_t k = i / block * block; k < n && k < (i / block + 1) * block; k++) {
        largest = fmaxf(largest, fabsf(x[k]));
    }
    const float step = bits == 8 ? largest / 127.0F : step_of(largest);
    const float factor = bits == 8 ? 127.0F / largest : 1.0F / step;
    return rintf(x[i] * factor) * step;
}

/* Inputs of a block of many tokens: as many as there can be of one group, up to 128. */
static inline int64_t block_of_many(int64_t inputs, int64_t groups, int64_t group_size) {
    int64_t block = 128;
    while (inputs % block != 0 || (groups > 1 && group_size % block != 0)) {
        block /= 2;
    }
    return block;
}

#endif
