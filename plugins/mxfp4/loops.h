/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MXFP4_LOOPS_H
#define MXFP4_LOOPS_H

#include "graft/packed_experts.h"

enum {
    MXFP4_BLOCK = 32, /* inputs that share a scale */
    MXFP4_BYTES = 16  /* of a block's codes */
};

/* What the loops' jobs have as `weight`. */
struct mxfp4_weight {
    const uint8_t *blocks; /* [rows, columns / MXFP4_BLOCK, MXFP4_BYTES] */
    const uint8_t *scales; /* [rows, columns / MXFP4_BLOCK] */
};

/* Plain C, and what this processor may run beside it. */
extern const struct graft_packed_stack_loops mxfp4_loops_scalar;
#if defined(__x86_64__)
extern const struct graft_packed_stack_loops mxfp4_loops_avx2;
extern const struct graft_packed_stack_loops mxfp4_loops_avx512;
#endif

#endif
