/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of Mamba 2 (Dao & Gu 2024): mamba2.c describes it, mamba2_forward.c runs it. */
#ifndef GRAFT_ARCH_MIXERS_MAMBA2_H
#define GRAFT_ARCH_MIXERS_MAMBA2_H

#include "arch/mixers/mamba2_scan.h"
#include "graft/class.h"
#include "graft/instance.h"

/* What `describe` keeps for `create`. */
struct graft_mamba2_sizes {
    int64_t hidden_size;
    int64_t heads;
    int64_t head_dim;
    int64_t size; /* heads * head_dim */
    int64_t state_size;
    int64_t groups;   /* divides heads: heads of a group share B and C */
    int64_t conv_dim; /* width of the convolution: x, B and C, concatenated */
    double step_min;
    double step_max; /* may be infinite */
    double input_scale;
    double output_scale;
    double gate_scale; /* factors for the parts of in_proj's output: this and the next four */
    double x_scale;
    double b_scale;
    double c_scale;
    double step_scale;
};

struct graft_mamba2 {
    struct graft_instance base;
    struct graft_mamba2_sizes sizes;
    const struct graft_mamba2_scan_loops *loops;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *norm; /* NULL: no norm, only silu(gate) */
    const struct graft_module *out_proj;
    const struct graft_weight *dt_bias;         /* [heads] */
    const struct graft_weight *A_log;           /* [heads] */
    const struct graft_weight *D;               /* [heads] */
    const struct graft_state *recurrent_states; /* [heads, state_size, head_dim] f32 */
};

/* The width of in_proj's output: gate, input of the convolution, and a step for each head. */
static inline int64_t graft_mamba2_projected(const struct graft_mamba2_sizes *sizes) {
    return sizes->size + sizes->conv_dim + sizes->heads;
}

#endif
