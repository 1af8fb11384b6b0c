/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/mixers/delta_net.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/gated_norm.h"
#include "graft/kernels.h"
#include "graft/state.h"

static int run_init(struct graft_delta_run *run, const struct graft_delta_sizes *sizes, const struct graft_call *call,
                    int64_t tokens, struct graft_error *error) {
    run->unmixed = graft_scratch_floats(call, tokens, graft_delta_conv_dim(sizes), error);
    run->qkv = graft_scratch_floats(call, tokens, graft_delta_conv_dim(sizes), error);
    run->z = graft_scratch_floats(call, tokens, graft_delta_values(sizes), error);
    run->b = graft_scratch_floats(call, tokens, sizes->value_heads, error);
    run->a = graft_scratch_floats(call, tokens, sizes->value_heads * sizes->decays, error);
    run->y = graft_scratch_floats(call, tokens, graft_delta_values(sizes), error);
    return run->unmixed != NULL && run->qkv != NULL && run->z != NULL && run->b != NULL && run->a != NULL &&
                   run->y != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

static int convolve(const struct graft_delta_net *self, const struct graft_call *call, const struct graft_batch *batch,
                    const struct graft_delta_run *run, struct graft_error *error) {
    const struct graft_causal_conv1d_args args = {sizeof args, 0, batch, run->unmixed, run->qkv};
    int status = graft_causal_conv1d_forward(self->conv1d, call, &args, error);
    return status == GRAFT_OK
               ? call->kernels->activation(call, GRAFT_ACTIVATION_SILU, run->qkv,
                                           batch->tokens * graft_delta_conv_dim(&self->sizes), run->qkv, error)
               : status;
}

/* Arguments of find_gates. */
struct gates {
    const struct graft_delta_sizes *sizes;
    const float *rates;   /* [value_heads]: exp(A_log) */
    const float *dt_bias; /* [value_heads, decays] */
    const struct graft_delta_run *run;
};

/* Computes, for tokens [begin, end), how much each head's state decays, and how much of it the token may change. */
static void find_gates(void *data, int64_t begin, int64_t end) {
    const struct gates *gates = data;
    const int64_t heads = gates->sizes->value_heads, decays = gates->sizes->decays;
    const float floor = (float)gates->sizes->decay_floor;
    for (int64_t i = begin * heads; i < end * heads; i++) {
        const int64_t head = i % heads;
        float *a = gates->run->a + i * decays;
        gates->run->b[i] = (float)gates->sizes->beta_scale / (1.0f + expf(-gates->run->b[i]));
        for (int64_t d = 0; d < decays; d++) {
            const float x = a[d] + gates->dt_bias[head * decays + d];
            a[d] = floor != 0.0f ? floor / (1.0f + expf(-gates->rates[head] * x))
                                 : -gates->rates[head] * graft_softplus(x);
        }
    }
}

static int make_gates(const struct graft_delta_net *self, const struct graft_call *call, int64_t tokens,
                      const struct graft_delta_run *run, struct graft_error *error) {
    const struct graft_delta_sizes *sizes = &self->sizes;
    float *rates = graft_scratch_widened(call, self->A_log, error);
    struct gates gates = {sizes, rates, graft_scratch_widened(call, self->dt_bias, error), run};
    if (rates == NULL || gates.dt_bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t h = 0; h < sizes->value_heads; h++) {
        rates[h] = expf(rates[h]);
    }
    call->threads->parallel_for(tokens, 1 + GRAFT_MIXER_WORK / 16 / (sizes->value_heads * sizes->decays), find_gates,
                                &gates);
    return GRAFT_OK;
}

/* Arguments of the parallel loops. */
struct work {
    const struct graft_delta_rule_loops *loops;
    struct graft_delta_rule whole;  /* the tokens of all sequences */
    struct graft_delta_rule *rules; /* [sequences] */
};

/* A parallel body; items are tokens. */
static void normalise(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t t = begin; t < end; t++) {
        work->loops->normalise(&work->whole, t);
    }
}

/* A parallel body; items are the heads of all sequences. */
static void run_heads(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    const int64_t heads = work->whole.value_heads;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_head(&work->rules[i / heads], i % heads);
    }
}

static int recur(const struct graft_delta_net *self, const struct graft_call *call, const struct graft_batch *batch,
                 const struct graft_delta_run *run, struct graft_error *error) {
    const struct graft_delta_sizes *sizes = &self->sizes;
    struct work work = {.loops = self->loops,
                        .whole = {.key_heads = sizes->key_heads,
                                  .key_dim = sizes->key_dim,
                                  .value_heads = sizes->value_heads,
                                  .value_dim = sizes->value_dim,
                                  .decays = sizes->decays,
                                  .tokens = batch->tokens,
                                  .qkv = run->qkv},
                        .rules = call->scratch_alloc(call->scratch, batch->sequences * (int64_t)sizeof *work.rules)};
    if (work.rules == NULL) {
        return graft_fail_memory(error, self->base.path);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s];
        struct graft_delta_rule *rule = &work.rules[s];
        *rule = work.whole;
        rule->tokens = batch->cu_seqlens[s + 1] - first;
        rule->g = run->a + first * sizes->value_heads * sizes->decays;
        rule->beta = run->b + first * sizes->value_heads;
        rule->qkv = run->qkv + first * graft_delta_conv_dim(sizes);
        rule->y = run->y + first * graft_delta_values(sizes);
        rule->state = graft_state_get(call, batch, self->recurrent_states, s, error);
        if (rule->state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    const int64_t effort = batch->tokens / batch->sequences * sizes->key_dim * sizes->value_dim;
    call->threads->parallel_for(batch->tokens, 1 + GRAFT_MIXER_WORK / graft_delta_keys(sizes), normalise, &work);
    call->threads->parallel_for(batch->sequences * sizes->value_heads, 1 + GRAFT_MIXER_WORK / (1 + effort), run_heads,
                                &work);
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct graft_delta_net *self = instance;
    const int64_t tokens = args->batch->tokens;
    struct graft_delta_run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = graft_delta_project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = convolve(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        status = make_gates(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        status = recur(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_gated_norm_args norm_args = {sizeof norm_args, 0, tokens * self->sizes.value_heads, run.y,
                                                        run.z};
        status = graft_gated_norm_forward(self->norm, call, &norm_args, error);
    }
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, run.z, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

const struct graft_mixer graft_delta_net_vtable = {
    .struct_size = sizeof graft_delta_net_vtable,
    .forward = forward,
};
