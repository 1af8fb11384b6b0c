/* SPDX-License-Identifier: Apache-2.0 */
/* Its reverse operation is sometimes wrong by a bit. */
#include "../converting.h"

static void apply(const float *from, float *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static void reverse(const float *from, float *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i] / 7.0F * 7.0F;
    }
}
