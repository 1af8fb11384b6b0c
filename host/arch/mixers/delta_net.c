/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of the gated delta rule: projections, a short convolution, and the rule. */
#include "arch/mixers/delta_net.h"

#include <math.h>
#include <string.h>

#include "arch/basic/activation.h"
#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/kernels.h"

static const struct graft_delta_rule_loops *const loops[] = GRAFT_ISA_TABLES(graft_delta_rule);

/* --- Layout --- */

static void read_sizes(struct graft_reader *reader, struct graft_delta_net *self) {
    const char *act = graft_read_text(reader, D_MIXER_ACT);
    self->key_heads = graft_read_int(reader, D_MIXER_KEY_HEADS);
    self->key_dim = graft_read_int(reader, D_MIXER_KEY_DIM);
    self->value_heads = graft_read_int(reader, D_MIXER_HEADS);
    self->value_dim = graft_read_int(reader, D_MIXER_HEAD_DIM);
    self->gate_rank = graft_read_int(reader, D_MIXER_GATE_RANK);
    self->decay_floor = (float)graft_read_real(reader, D_MIXER_DECAY_FLOOR);
    self->beta_scale = (float)graft_read_real(reader, D_MIXER_BETA_SCALE);
    self->decays = graft_read_word(reader, D_MIXER_DECAY) == D_DECAY_KEY ? self->key_dim : 1;
    if (reader->status == GRAFT_OK && strcmp(act, "silu") != 0 && strcmp(act, "swish") != 0) {
        graft_reader_fail(reader, D_MIXER_ACT, "expected \"silu\" in a model with linear attention, got \"%s\"", act);
    } else if (reader->status == GRAFT_OK && self->value_heads % self->key_heads != 0) {
        graft_reader_fail(reader, D_MIXER_KEY_HEADS, "%lld does not divide the number of heads of values (%lld)",
                          (long long)self->key_heads, (long long)self->value_heads);
    }
}

/* A projection of hidden states. With a rank `narrow` projects to so many numbers, and `module` from there. */
static void outline_projection(struct graft_outline *of, const struct graft_module **module, const char *name,
                               const struct graft_module **narrow, const char *narrow_name, int64_t rank,
                               int64_t size) {
    const int64_t width = graft_outline_hidden_size(of);
    if (rank > 0) {
        graft_outline_linear(of, narrow, narrow_name, width, rank, 0);
    }
    graft_outline_linear(of, module, name, rank > 0 ? rank : width, size, 0);
}

static void outline_projections(struct graft_outline *of, struct graft_delta_net *self) {
    const int64_t width = graft_outline_hidden_size(of), keys = graft_delta_keys(self), heads = self->value_heads;
    const int64_t values = graft_delta_values(self), rank = self->gate_rank;
    switch (graft_read_word(&of->reader, D_MIXER_LAYOUT)) {
    case D_MIXER_GROUPED:
        graft_outline_linear(of, &self->qkvz, "in_proj_qkvz", width, 2 * keys + 2 * values, 0);
        graft_outline_linear(of, &self->ba, "in_proj_ba", width, 2 * heads, 0);
        break;
    case D_MIXER_JOINED:
        graft_outline_linear(of, &self->qkv, "in_proj_qkv", width, 2 * keys + values, 0);
        graft_outline_linear(of, &self->z, "in_proj_z", width, values, 0);
        graft_outline_linear(of, &self->b, "in_proj_b", width, heads, 0);
        graft_outline_linear(of, &self->a, "in_proj_a", width, heads * self->decays, 0);
        break;
    default:
        graft_outline_linear(of, &self->q, "q_proj", width, keys, 0);
        graft_outline_linear(of, &self->k, "k_proj", width, keys, 0);
        graft_outline_linear(of, &self->v, "v_proj", width, values, 0);
        graft_outline_linear(of, &self->b, "b_proj", width, heads, 0);
        outline_projection(of, &self->a,
                           self->decays == 1 ? "a_proj"
                           : rank > 0        ? "f_b_proj"
                                             : "f_proj",
                           &self->narrow_a, "f_a_proj", rank, heads * self->decays);
        outline_projection(of, &self->z, rank > 0 ? "g_b_proj" : "g_proj", &self->narrow_z, "g_a_proj", rank, values);
        break;
    }
}

static void outline(struct graft_outline *of, struct graft_delta_net *self) {
    read_sizes(&of->reader, self);
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    const int64_t shape[] = {self->value_heads, self->key_dim, self->value_dim};
    const int64_t block[] = {1, 1, self->value_heads, 1};
    const int is_block = graft_read_word(&of->reader, D_MIXER_RATES) != D_RATES_VECTOR;
    outline_projections(of, self);
    graft_mixer_conv(of, &self->conv1d, graft_delta_conv_dim(self));
    graft_mixer_norm(of, &self->norm, self->value_dim, self->value_dim);
    graft_mixer_output(of, &self->output, graft_delta_values(self), 0);
    graft_outline_vector(of, &self->dt_bias, "dt_bias", self->value_heads * self->decays);
    graft_outline_parameter(of, &self->A_log, "A_log", is_block ? 4 : 1, is_block ? block : shape);
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 3, shape);
}

GRAFT_OUTLINED(graft_delta_net, struct graft_delta_net)

/* --- Forward --- */

/* Arguments of find_gates. */
struct gates {
    const struct graft_delta_net *delta_net;
    const float *rates;   /* [value_heads]: exp(A_log) */
    const float *dt_bias; /* [value_heads, decays] */
    const struct graft_delta_run *run;
};

/* Computes, for tokens [begin, end), how much each head's state decays, and how much of it the token may change. */
static void find_gates(void *data, int64_t begin, int64_t end) {
    const struct gates *gates = data;
    const int64_t heads = gates->delta_net->value_heads, decays = gates->delta_net->decays;
    const float floor = gates->delta_net->decay_floor;
    for (int64_t i = begin * heads; i < end * heads; i++) {
        const int64_t head = i % heads;
        float *a = gates->run->a + i * decays;
        gates->run->b[i] = gates->delta_net->beta_scale / (1.0f + expf(-gates->run->b[i]));
        for (int64_t d = 0; d < decays; d++) {
            const float x = a[d] + gates->dt_bias[head * decays + d];
            a[d] = floor != 0.0f ? floor / (1.0f + expf(-gates->rates[head] * x))
                                 : -gates->rates[head] * graft_softplus(x);
        }
    }
}

static void make_gates(const struct graft_delta_net *self, const struct graft_pass *pass,
                       const struct graft_delta_run *run) {
    float *rates = graft_pass_widen(pass, self->A_log);
    struct gates gates = {self, rates, graft_pass_widen(pass, self->dt_bias), run};
    if (!graft_pass_ok(pass)) {
        return;
    }
    for (int64_t h = 0; h < self->value_heads; h++) {
        rates[h] = expf(rates[h]);
    }
    pass->call->threads->parallel_for(pass->rows, 1 + GRAFT_MIXER_WORK / 16 / (self->value_heads * self->decays),
                                      find_gates, &gates);
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

/* y [tokens, value_heads, value_dim] */
static float *recur(const struct graft_delta_net *self, const struct graft_pass *pass, const struct graft_batch *batch,
                    const struct graft_delta_run *run, float *qkv) {
    const int64_t sequences = batch->sequences;
    float **states = graft_mixer_states(pass, batch, self->recurrent_states);
    float *y = graft_pass_floats(pass, graft_delta_values(self));
    struct work work = {.loops = self->loops,
                        .whole = {.key_heads = self->key_heads,
                                  .key_dim = self->key_dim,
                                  .value_heads = self->value_heads,
                                  .value_dim = self->value_dim,
                                  .decays = self->decays,
                                  .tokens = batch->tokens,
                                  .qkv = qkv},
                        .rules =
                            graft_scratch_zeroed(pass->call, sequences * (int64_t)sizeof *work.rules, pass->error)};
    if (!graft_pass_ok(pass)) {
        return NULL;
    }
    for (int32_t s = 0; s < sequences; s++) {
        const int64_t first = batch->cu_seqlens[s];
        struct graft_delta_rule *rule = &work.rules[s];
        *rule = work.whole;
        rule->tokens = batch->cu_seqlens[s + 1] - first;
        rule->g = run->a + first * self->value_heads * self->decays;
        rule->beta = run->b + first * self->value_heads;
        rule->qkv = qkv + first * graft_delta_conv_dim(self);
        rule->y = y + first * graft_delta_values(self);
        rule->state = states[s];
    }
    const int64_t effort = batch->tokens / sequences * self->key_dim * self->value_dim;
    pass->call->threads->parallel_for(batch->tokens, 1 + GRAFT_MIXER_WORK / graft_delta_keys(self), normalise, &work);
    pass->call->threads->parallel_for(sequences * self->value_heads, 1 + GRAFT_MIXER_WORK / (1 + effort), run_heads,
                                      &work);
    return y;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct graft_delta_net *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t conv_dim = graft_delta_conv_dim(self);
    const struct graft_delta_run run = graft_delta_project(self, &pass, args->hidden_states);
    float *qkv = graft_mixer_convolve(&pass, self->conv1d, args->batch, run.unmixed, conv_dim);
    graft_pass_activation(&pass, GRAFT_ACTIVATION_SILU, qkv, conv_dim);
    make_gates(self, &pass, &run);
    float *y = recur(self, &pass, args->batch, &run, qkv);
    graft_mixer_gated_norm(&pass, self->norm, self->value_heads, y, run.z);
    graft_pass_linear(&pass, self->output, run.z, args->output);
    return error->code;
}

const struct graft_mixer graft_delta_net_vtable = {.struct_size = sizeof graft_delta_net_vtable, .forward = forward};
