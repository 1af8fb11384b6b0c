/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recurrent block of Griffin (De et al. 2024): a convolution and a real-gated linear recurrent unit, times a branch
 * with an activation. Each channel keeps one number, and for each token with input x and gates r and i, sigmoids of
 * what a matrix for each head makes of x,
 *
 *     a     = exp(-8 r softplus(recurrent_param))
 *     state = a * state + sqrt(1 - a^2) * i * x
 *
 * where the first token of a sequence is taken as it is, i * x.
 */
#include <math.h>

#include "arch/basic/activation.h"
#include "arch/decoder/choices.h"
#include "arch/mixers/head_gate.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"

static const struct graft_head_gate_loops *const loops[] = GRAFT_ISA_TABLES(graft_head_gate);

struct rg_lru {
    struct graft_instance base;
    int64_t heads;
    int64_t head_dim; /* channels of each head */
    const struct graft_head_gate_loops *loops;
    const struct graft_module *linear_x;
    const struct graft_module *linear_y;
    const struct graft_module *conv;
    const struct graft_module *act_fn;
    const struct graft_module *output;
    const struct graft_weight *recurrent_param; /* [heads * head_dim] */
    /* Of the input gate and of the recurrent one: */
    const struct graft_weight *gate_weights[2]; /* [heads, head_dim, head_dim], inputs by outputs */
    const struct graft_weight *gate_biases[2];  /* [heads, head_dim] */
    const struct graft_state *recurrent_states; /* [heads * head_dim] f32 */
};

static void outline(struct graft_outline *of, struct rg_lru *self) {
    static const char *const gates[][2] = {{"rg_lru.input_gate_weight", "rg_lru.input_gate_bias"},
                                           {"rg_lru.recurrent_gate_weight", "rg_lru.recurrent_gate_bias"}};
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->heads = graft_read_int(&of->reader, D_MIXER_HEADS);
    self->head_dim = graft_read_int(&of->reader, D_MIXER_HEAD_DIM);
    const int64_t hidden_size = graft_outline_hidden_size(of), width = self->heads * self->head_dim;
    const int64_t shape[] = {self->heads, self->head_dim, self->head_dim};
    graft_outline_linear(of, &self->linear_x, "linear_x", hidden_size, width, 1);
    graft_outline_linear(of, &self->linear_y, "linear_y", hidden_size, width, 1);
    graft_mixer_output(of, &self->output, width, 1);
    graft_mixer_act(of, &self->act_fn, "act_fn");
    graft_mixer_conv(of, &self->conv, width);
    graft_outline_vector(of, &self->recurrent_param, "rg_lru.recurrent_param", width);
    for (int i = 0; i < 2; i++) {
        graft_outline_parameter(of, &self->gate_weights[i], gates[i][0], 3, shape);
        graft_outline_parameter(of, &self->gate_biases[i], gates[i][1], 2, shape);
    }
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 1, &width);
}

GRAFT_OUTLINED(graft_rg_lru, struct rg_lru)

/* One sequence: its inputs, gates, outputs and state, and the module's widened weights. */
struct work {
    const struct rg_lru *rg_lru;
    const float *weights[2]; /* [heads, head_dim, head_dim] of the input gate and of the recurrent one */
    const float *biases[2];  /* [heads, head_dim] */
    const float *decays;     /* [heads * head_dim]: -8 softplus(recurrent_param) */
    int64_t tokens;
    const int64_t *positions; /* [tokens] */
    const float *x;           /* [tokens, heads * head_dim] */
    float *gates[2]; /* [tokens, heads * head_dim]: gates of the inputs and of the recurrence, before the sigmoid */
    float *y;        /* likewise */
    float *state;    /* [heads * head_dim] */
};

static void run_token(const struct work *work, int64_t head, int64_t t) {
    const int64_t dim = work->rg_lru->head_dim, first = head * dim;
    const int64_t at = t * work->rg_lru->heads * dim + first;
    const int is_first = work->positions[t] == 0;
    for (int i = 0; i < 2; i++) {
        work->rg_lru->loops->multiply(work->x + at, work->weights[i] + first * dim, work->biases[i] + first, dim,
                                      work->gates[i] + at);
    }
    for (int64_t c = 0; c < dim; c++) {
        const float input = 1.0f / (1.0f + expf(-work->gates[0][at + c]));
        const float logarithm = work->decays[first + c] / (1.0f + expf(-work->gates[1][at + c]));
        const float a = is_first ? 0.0f : expf(logarithm);
        const float scale = is_first ? 1.0f : sqrtf(-expm1f(2.0f * logarithm));
        work->state[first + c] = a * work->state[first + c] + scale * input * work->x[at + c];
        work->y[at + c] = work->state[first + c];
    }
}

/* A parallel body; items are heads. */
static void run_heads(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t head = begin; head < end; head++) {
        for (int64_t t = 0; t < work->tokens; t++) {
            run_token(work, head, t);
        }
    }
}

/* y [tokens, heads * head_dim] of x, which went through the convolution. */
static float *recur(const struct rg_lru *self, const struct graft_pass *pass, const struct graft_batch *batch,
                    const float *x) {
    const int64_t dim = self->head_dim, width = self->heads * dim;
    float **states = graft_mixer_states(pass, batch, self->recurrent_states);
    float *decays = graft_pass_widen(pass, self->recurrent_param), *y = graft_pass_floats(pass, width);
    float *const gates[] = {graft_pass_floats(pass, width), graft_pass_floats(pass, width)};
    struct work work = {.rg_lru = self, .decays = decays};
    for (int i = 0; i < 2; i++) {
        work.weights[i] = graft_pass_widen(pass, self->gate_weights[i]);
        work.biases[i] = graft_pass_widen(pass, self->gate_biases[i]);
    }
    if (!graft_pass_ok(pass)) {
        return NULL;
    }
    for (int64_t c = 0; c < width; c++) {
        decays[c] = -8.0f * graft_softplus(decays[c]);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s];
        work.tokens = batch->cu_seqlens[s + 1] - first;
        work.positions = batch->positions + first;
        work.x = x + first * width;
        work.gates[0] = gates[0] + first * width;
        work.gates[1] = gates[1] + first * width;
        work.y = y + first * width;
        work.state = states[s];
        pass->call->threads->parallel_for(self->heads, 1 + GRAFT_MIXER_WORK / (1 + work.tokens * dim * dim), run_heads,
                                          &work);
    }
    return y;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rg_lru *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t width = self->heads * self->head_dim;
    const struct graft_module *projections[] = {self->linear_x, self->linear_y};
    float *const made[] = {graft_pass_floats(&pass, width), graft_pass_floats(&pass, width)}; /* both branches */
    graft_pass_linears(&pass, projections, args->hidden_states, made, 2);
    float *y = recur(self, &pass, args->batch, graft_mixer_convolve(&pass, self->conv, args->batch, made[0], width));
    graft_pass_gate_by(&pass, self->act_fn, made[1], y, width);
    graft_pass_linear(&pass, self->output, made[1], args->output);
    return error->code;
}

const struct graft_mixer graft_rg_lru_vtable = {.struct_size = sizeof graft_rg_lru_vtable, .forward = forward};
