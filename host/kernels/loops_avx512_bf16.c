/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AVX-512 F, BW, VL, DQ and BF16; compiled for these alone and reached only where graft_cpu_isa()
 * allows it. */
#include "kernels/simd_avx512.h"

#include "kernels/simd_loops.h"
#include "kernels/simd_pairs.h"

const struct graft_loops graft_loops_avx512_bf16 = {
    .pack_rows = MULTIPLY_VECTORS * VF_WIDTH,
    .dot = dot,
    .split = split,
    .dot_split = dot_split,
    .pack = pack,
    .multiply = multiply,
    .pack_pairs = pack_pairs,
    .multiply_pairs = multiply_pairs,
    .pair = pair,
    .widen = widen,
    .narrow = narrow,
    .sum_of_squares = sum_of_squares,
    .scale_by = scale_by,
    .sum = sum,
    .multiply_add = multiply_add,
    .centre = centre,
    .add_stored = add_stored,
    .rotate = rotate,
    .activate = activate,
    .activate_gate = activate_gate,
    .add_scaled = add_scaled,
    .scale = scale,
    .maximum = maximum,
    .exp_sum = exp_sum,
    .columns_softmax = columns_softmax,
    .columns_softmax_pairs = columns_softmax_pairs,
    .columns_scale = columns_scale,
};
