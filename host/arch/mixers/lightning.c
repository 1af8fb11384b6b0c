/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lightning attention (Qin et al. 2024): keys and values of a head add up to a matrix, of which each token takes what
 * its query matches, and which decays by a factor that goes by head and layer:
 *
 *     state = exp(-slope) * state + k v^T
 *     y     = state^T q
 *
 * That is the recurrence of Mamba 2 with steps of 1 and heads that share nothing, so its scan runs.
 */
#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/mamba2_scan.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/kernels.h"

static const struct graft_mamba2_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba2_scan);

struct lightning {
    struct graft_instance base;
    int64_t heads;
    int64_t head_dim;
    int64_t layer;
    int64_t layers; /* number of the model's layers */
    const struct graft_mamba2_scan_loops *loops;
    const struct graft_module *qkv_proj;    /* hidden_size -> [heads, {q, k, v}, head_dim] */
    const struct graft_module *output_gate; /* hidden_size -> heads * head_dim */
    const struct graft_module *act_fn;
    const struct graft_module *norm;
    const struct graft_module *output;
    const struct graft_state *recurrent_states; /* [heads, head_dim, head_dim] f32 */
};

static void outline(struct graft_outline *of, struct lightning *self) {
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->heads = graft_read_int(&of->reader, D_MIXER_HEADS);
    self->head_dim = graft_read_int(&of->reader, D_MIXER_HEAD_DIM);
    self->layer = of->reader.layer;
    self->layers = graft_read_int(&of->reader, D_LAYERS);
    const double eps = graft_read_real(&of->reader, D_MIXER_NORM_EPS);
    const int64_t hidden_size = graft_outline_hidden_size(of), width = self->heads * self->head_dim;
    const int64_t shape[] = {self->heads, self->head_dim, self->head_dim};
    graft_outline_linear(of, &self->qkv_proj, "qkv_proj", hidden_size, 3 * width, 0);
    graft_outline_linear(of, &self->output_gate, "output_gate", hidden_size, width, 0);
    graft_mixer_output(of, &self->output, width, 0);
    graft_mixer_act(of, &self->act_fn, "act_fn");
    graft_outline_norm(of, &self->norm, graft_outline_name(of, D_MIXER_NORM), graft_outline_name(of, D_CLASS_NORM),
                       width, eps);
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 3, shape);
}

GRAFT_OUTLINED(graft_lightning, struct lightning)

/* Turns qkv [tokens, heads, {q, k, v} [head_dim]] into [tokens, {v, k, q} [heads, head_dim]], the scan's layout. */
static float *turn(const struct lightning *self, const struct graft_pass *pass, const float *qkv) {
    const int64_t heads = self->heads, dim = self->head_dim;
    float *xBC = graft_pass_floats(pass, 3 * heads * dim);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads * 3; i++) {
        const int64_t t = i / (heads * 3), head = i / 3 % heads, part = 2 - i % 3;
        memcpy(xBC + ((t * 3 + part) * heads + head) * dim, qkv + i * dim, (size_t)dim * sizeof(float));
    }
    return xBC;
}

/* How much the state of a head decays with each token. */
static float slope_of(const struct lightning *self, int64_t head) {
    const double rate = pow(2.0, -8.0 * (double)(head + 1) / (double)self->heads);
    return (float)(rate * (1.0 - (double)self->layer / ((double)(self->layers - 1) + 1e-5) + 1e-5));
}

/* y [tokens, heads, head_dim] */
static float *scan(const struct lightning *self, const struct graft_pass *pass, const struct graft_batch *batch,
                   const float *xBC) {
    const struct graft_pass one = {pass->call, 1, pass->error};
    float *A = graft_pass_floats(&one, self->heads);
    float *D = graft_pass_floats(&one, self->heads);
    float *dt = graft_pass_floats(pass, self->heads);
    const struct graft_mamba2_scan whole = {
        .num_heads = self->heads,
        .head_dim = self->head_dim,
        .state_size = self->head_dim,
        .n_groups = self->heads,
        .A = A,
        .D = D,
        .dt = dt,
        .xBC = xBC,
        .y = graft_pass_floats(pass, self->heads * self->head_dim),
    };
    for (int64_t h = 0; graft_pass_ok(pass) && h < self->heads; h++) {
        A[h] = -slope_of(self, h);
        D[h] = 0.0f;
    }
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * self->heads; i++) {
        dt[i] = 1.0f;
    }
    graft_mamba2_scan_batch(self->loops, &whole, pass, batch, self->recurrent_states);
    return whole.y;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct lightning *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t width = self->heads * self->head_dim;
    const struct graft_module *projections[] = {self->qkv_proj, self->output_gate};
    float *const made[] = {graft_pass_floats(&pass, 3 * width), graft_pass_floats(&pass, width)};
    graft_pass_linears(&pass, projections, args->hidden_states, made, 2);
    graft_pass_activate(&pass, self->act_fn, made[0], 3 * width);
    float *y = scan(self, &pass, args->batch, turn(self, &pass, made[0]));
    float *normed = graft_pass_normed(&pass, self->norm, y, width);
    graft_pass_gate(&pass, GRAFT_ACTIVATION_SIGMOID, made[1], normed, width);
    graft_pass_linear(&pass, self->output, made[1], args->output);
    return error->code;
}

const struct graft_mixer graft_lightning_vtable = {.struct_size = sizeof graft_lightning_vtable, .forward = forward};
