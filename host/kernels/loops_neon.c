/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AArch64, all of whose processors have NEON. */
#include "kernels/simd_neon.h"

#include "kernels/simd_loops.h"

const struct graft_loops graft_loops_neon = {
    SIMD_LOOPS,
};
