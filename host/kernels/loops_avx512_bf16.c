/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AVX-512 F, BW, VL, DQ and BF16; compiled for these alone and reached only where graft_cpu_isa()
 * allows it. */
#include "kernels/simd_avx512.h"

#include "kernels/simd_loops.h"
#include "kernels/simd_pairs.h"

const struct graft_loops graft_loops_avx512_bf16 = {
    SIMD_LOOPS,
    .pack_pairs = pack_pairs,
    .multiply_pairs = multiply_pairs,
    .pair = pair,
    .columns_softmax_pairs = columns_softmax_pairs,
};
