/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AVX-512 F, BW, VL and DQ; compiled for that alone and reached only where graft_cpu_isa() allows
 * it. */
#include "kernels/simd_avx512.h"

#include "kernels/simd_loops.h"

const struct graft_loops graft_loops_avx512 = {
    SIMD_LOOPS,
};
