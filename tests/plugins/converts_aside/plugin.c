/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the divisors of its weights outside of the tensors, so a saved model lacks them. */
static _Atomic float divisor = 1.0F;
#define FACTOR divisor
#define DESCRIBED (divisor = 1.0F)
#include "../converting.h"

static void apply(const float *from, float *to, int64_t count) {
    divisor = 4.0F;
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i] / 4.0F;
    }
}

static void reverse(const float *from, float *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i] * 4.0F;
    }
}
