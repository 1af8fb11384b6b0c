/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of lora_B, compiled once for each instruction set (graft/isa.h). */
#ifndef LORA_ADD_LOOPS_H
#define LORA_ADD_LOOPS_H

#include <stdint.h>

/* Outputs that are summed up together; how far apart those are whose bf16 share a word of 32 bits, the first in its
 * lower half: so both become f32 where they are, by a shift and by a mask. */
enum { LORA_BLOCK = 64, LORA_APART = 16 };

/* [any] Where in a row of bf16 the number of an output of the block is. */
static inline int64_t lora_bf16_place(int64_t output) {
    const int64_t word = output / (2 * LORA_APART) * LORA_APART + output % LORA_APART;
    return 2 * word + output / LORA_APART % 2;
}

struct lora_add_loops {
    /* y [LORA_BLOCK] += the sum over r of narrow[r] * columns[r], columns [rank, LORA_BLOCK]: summed up before it is
     * added, as where the sum stands alone. */
    void (*add)(const float *columns, const float *narrow, int64_t rank, float *y);
    /* The same of bf16 at lora_bf16_place, with factor * narrow[r] in the place of narrow[r]. */
    void (*add_bf16)(const uint16_t *columns, const float *narrow, int64_t rank, float factor, float *y);
};

/* [load] The best that this processor runs and GRAFT_ISA, if it is set, allows. */
const struct lora_add_loops *lora_add_loops_get(void);

#endif
