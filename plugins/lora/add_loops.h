/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of lora_B, compiled once for each instruction set (graft/isa.h). */
#ifndef LORA_ADD_LOOPS_H
#define LORA_ADD_LOOPS_H

#include <stdint.h>

enum { LORA_BLOCK = 64 }; /* outputs that are summed up together, in registers */

struct lora_add_loops {
    /* y [LORA_BLOCK] += the sum over r of narrow[r] * columns[r], columns [rank, LORA_BLOCK]: summed up before it is
     * added, as where the sum stands alone. */
    void (*add)(const float *columns, const float *narrow, int64_t rank, float *y);
    /* The same of bf16, with factor * narrow[r] in the place of narrow[r]. */
    void (*add_bf16)(const uint16_t *columns, const float *narrow, int64_t rank, float factor, float *y);
};

/* [load] The best that this processor runs and GRAFT_ISA, if it is set, allows. */
const struct lora_add_loops *lora_add_loops_get(void);

#endif
