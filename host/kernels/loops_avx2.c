/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AVX2, FMA and F16C; compiled for that alone and reached only where graft_cpu_isa() allows it. */
#include "kernels/simd_avx2.h"

#include "kernels/simd_loops.h"

const struct graft_loops graft_loops_avx2 = {
    .pack_rows = MULTIPLY_VECTORS * VF_WIDTH,
    .dot = dot,
    .split = split,
    .dot_split = dot_split,
    .pack = pack,
    .multiply = multiply,
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
    .columns_scale = columns_scale,
};
