/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"

#include "graft/isa.h"
#include "graft/vectors.h"

/* Adding and subtracting 1.5 * 2^23 rounds to an integer, in the rounding mode that there is: ties to even. */
static void quantize(const float *weights, int64_t n, float factor, int8_t *codes) {
    const float shift = 12582912.0F;
    for (int64_t i = 0; i < n; i++) {
        float scaled = weights[i] * factor;
        scaled = scaled > 127.0F ? 127.0F : scaled;
        scaled = scaled < -127.0F ? -127.0F : scaled;
        codes[i] = (int8_t)((scaled + shift) - shift);
    }
}

const struct int8_loops GRAFT_ISA_NAME(int8_loops) = {graft_vector_largest, quantize};
