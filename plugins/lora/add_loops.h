/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of lora_B, compiled once for each instruction set (graft/isa.h). */
#ifndef LORA_ADD_LOOPS_H
#define LORA_ADD_LOOPS_H

#include <stdint.h>

/* LORA_BLOCK outputs are computed together. In bf16, outputs that are LORA_APART apart share a 32-bit word, the first
 * in its lower half, so that a shift and a mask widen both in place. */
enum { LORA_BLOCK = 64, LORA_APART = 16 };

/* [any] The index, in a row of bf16, of an output of the block. */
static inline int64_t lora_bf16_place(int64_t output) {
    const int64_t word = output / (2 * LORA_APART) * LORA_APART + output % LORA_APART;
    return 2 * word + output / LORA_APART % 2;
}

struct lora_add_loops {
    /* y [LORA_BLOCK] += the sum over r of narrow[r] * columns[r], where columns is [rank, LORA_BLOCK]. The sum is
     * complete before it is added, as if it were computed alone. */
    void (*add)(const float *columns, const float *narrow, int64_t rank, float *y);
    /* Like `add`, for columns of bf16 in the order of lora_bf16_place, with factor * narrow[r] instead of narrow[r]. */
    void (*add_bf16)(const uint16_t *columns, const float *narrow, int64_t rank, float factor, float *y);
};

/* [load] The best loops that this processor can run and GRAFT_ISA, if it is set, allows. */
const struct lora_add_loops *lora_add_loops_get(void);

#endif
