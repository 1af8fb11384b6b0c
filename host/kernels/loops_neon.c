/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops for AArch64, all of whose processors have NEON. */
#include "kernels/simd_neon.h"

#include "kernels/simd_loops.h"

const struct graft_loops graft_loops_neon = {
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
