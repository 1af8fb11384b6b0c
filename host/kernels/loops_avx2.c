/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AVX2, FMA and F16C; compiled for that alone and reached only where graft_cpu_isa() allows it. */
#include "kernels/simd_avx2.h"

#include "kernels/simd_loops.h"

const struct graft_loops graft_loops_avx2 = {
    SIMD_LOOPS,
};
