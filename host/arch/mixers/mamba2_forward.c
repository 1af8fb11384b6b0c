/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "arch/mixers/mamba2.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/gated_norm.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

/* The arrays of one forward. */
struct run {
    const float *x;   /* [tokens, hidden_size], scaled */
    float *projected; /* [tokens, graft_mamba2_projected] */
    float *unmixed;   /* [tokens, conv_dim] */
    float *xBC;       /* [tokens, conv_dim] */
    float *dt;        /* [tokens, heads] */
    float *y;         /* [tokens, size] */
    float *gate;      /* [tokens, size]: the gate, later the output of the norm */
};

/* x times the input's scale; x itself if that is 1. */
static const float *scaled_input(const struct graft_mamba2_sizes *sizes, const struct graft_call *call, const float *x,
                                 int64_t tokens, struct graft_error *error) {
    const int64_t count = tokens * sizes->hidden_size;
    if (sizes->input_scale == 1.0) {
        return x;
    }
    float *scaled = graft_scratch_floats(call, tokens, sizes->hidden_size, error);
    if (scaled != NULL) {
        memcpy(scaled, x, (size_t)count * sizeof *x);
        graft_scale(scaled, count, (float)sizes->input_scale);
    }
    return scaled;
}

static int run_init(struct run *run, const struct graft_mamba2_sizes *sizes, const struct graft_call *call,
                    const struct graft_mixer_args *args, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens;
    run->x = scaled_input(sizes, call, args->hidden_states, tokens, error);
    run->projected = graft_scratch_floats(call, tokens, graft_mamba2_projected(sizes), error);
    run->unmixed = graft_scratch_floats(call, tokens, sizes->conv_dim, error);
    run->xBC = graft_scratch_floats(call, tokens, sizes->conv_dim, error);
    run->dt = graft_scratch_floats(call, tokens, sizes->heads, error);
    run->y = graft_scratch_floats(call, tokens, sizes->size, error);
    run->gate = graft_scratch_floats(call, tokens, sizes->size, error);
    return run->x != NULL && run->projected != NULL && run->unmixed != NULL && run->xBC != NULL && run->dt != NULL &&
                   run->y != NULL && run->gate != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

/* Scales the parts of one token of in_proj's output. */
static void scale_parts(const struct graft_mamba2_sizes *sizes, float *gate, float *xBC) {
    const int64_t shared = sizes->groups * sizes->state_size;
    graft_scale(gate, sizes->size, (float)sizes->gate_scale);
    graft_scale(xBC, sizes->size, (float)sizes->x_scale);
    graft_scale(xBC + sizes->size, shared, (float)sizes->b_scale);
    graft_scale(xBC + sizes->size + shared, shared, (float)sizes->c_scale);
}

/* Runs in_proj, then the convolution with its activation. */
static int project(const struct graft_mamba2 *self, const struct graft_call *call, const struct graft_batch *batch,
                   const struct run *run, struct graft_error *error) {
    const struct graft_mamba2_sizes *sizes = &self->sizes;
    const int64_t tokens = batch->tokens, width = graft_mamba2_projected(sizes);
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, run->x, run->projected};
    const struct graft_causal_conv1d_args conv_args = {
        .struct_size = sizeof conv_args, .batch = batch, .x = run->unmixed, .y = run->xBC};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * sizes->conv_dim, run->xBC, run->xBC};
    int status = graft_linear_forward(self->in_proj, call, &in_args, error);
    if (status == GRAFT_OK) {
        graft_take_columns(run->projected, width, 0, tokens, sizes->size, run->gate);
        graft_take_columns(run->projected, width, sizes->size, tokens, sizes->conv_dim, run->unmixed);
        for (int64_t t = 0; t < tokens; t++) {
            scale_parts(sizes, run->gate + t * sizes->size, run->unmixed + t * sizes->conv_dim);
        }
        status = graft_causal_conv1d_forward(self->conv1d, call, &conv_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}

/* Computes the length of each head's step for each token. */
static int find_steps(const struct graft_mamba2 *self, const struct graft_call *call, int64_t tokens,
                      const struct run *run, struct graft_error *error) {
    const struct graft_mamba2_sizes *sizes = &self->sizes;
    const float *bias = graft_scratch_widened(call, self->dt_bias, error);
    if (bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        const float *raw = run->projected + (t + 1) * graft_mamba2_projected(sizes) - sizes->heads;
        for (int64_t h = 0; h < sizes->heads; h++) {
            const float x = (float)sizes->step_scale * raw[h] + bias[h];
            const float step = fmaxf(graft_softplus(x), (float)sizes->step_min);
            run->dt[t * sizes->heads + h] = fminf(step, (float)sizes->step_max);
        }
    }
    return GRAFT_OK;
}

static int scan(const struct graft_mamba2 *self, const struct graft_call *call, const struct graft_batch *batch,
                const struct run *run, struct graft_error *error) {
    const struct graft_mamba2_sizes *sizes = &self->sizes;
    float *A = graft_scratch_widened(call, self->A_log, error);
    const struct graft_mamba2_scan whole = {
        .num_heads = sizes->heads,
        .head_dim = sizes->head_dim,
        .state_size = sizes->state_size,
        .n_groups = sizes->groups,
        .A = A,
        .D = graft_scratch_widened(call, self->D, error),
        .dt = run->dt,
        .xBC = run->xBC,
        .y = run->y,
    };
    if (A == NULL || whole.D == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t h = 0; h < sizes->heads; h++) {
        A[h] = -expf(A[h]);
    }
    return graft_mamba2_scan_batch(self->loops, &whole, call, batch, self->recurrent_states, error);
}

/* Computes the gated, normalised input of out_proj in run->gate. */
static int apply_gate(const struct graft_mamba2 *self, const struct graft_call *call, int64_t tokens,
                      const struct run *run, struct graft_error *error) {
    const int64_t width = self->sizes.size;
    const struct graft_gated_norm_args args = {sizeof args, 0, tokens, run->y, run->gate};
    return self->norm != NULL ? graft_gated_norm_forward(self->norm, call, &args, error)
                              : call->kernels->gated_activation(call, GRAFT_ACTIVATION_SILU, run->gate, width, run->y,
                                                                width, tokens, width, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct graft_mamba2 *self = instance;
    const int64_t tokens = args->batch->tokens;
    struct run run;
    int status = run_init(&run, &self->sizes, call, args, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        status = find_steps(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        status = scan(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        status = apply_gate(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, run.gate, args->output};
        status = graft_linear_forward(self->out_proj, call, &out_args, error);
    }
    graft_scale(args->output, tokens * self->sizes.hidden_size, (float)self->sizes.output_scale);
    return status;
}

const struct graft_mixer graft_mamba2_vtable = {.struct_size = sizeof graft_mamba2_vtable, .forward = forward};
