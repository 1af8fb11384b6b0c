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

#include "arch/decoder/choices.h"
#include "arch/mixers/head_gate.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

static const struct graft_head_gate_loops *const loops[] = GRAFT_ISA_TABLES(graft_head_gate);

struct sizes {
    int64_t hidden_size;
    int64_t heads;
    int64_t head_dim; /* channels of each head */
};

struct rg_lru {
    struct graft_instance base;
    struct sizes sizes;
    const struct graft_head_gate_loops *loops;
    const struct graft_module *linear_x;
    const struct graft_module *linear_y;
    const struct graft_module *conv;
    const struct graft_module *act_fn;
    const struct graft_module *output;
    const struct graft_weight *recurrent_param; /* [heads * head_dim] */
    const struct graft_weight
        *input_gate_weight; /* [heads, head_dim, head_dim], inputs by outputs, like the recurrent gate's */
    const struct graft_weight *recurrent_gate_weight;
    const struct graft_weight *input_gate_bias;     /* [heads, head_dim] */
    const struct graft_weight *recurrent_gate_bias; /* [heads, head_dim] */
    const struct graft_state *recurrent_states;     /* [heads * head_dim] f32 */
};

static void describe_parameters(const struct sizes *sizes, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const gates[][2] = {{"rg_lru.input_gate_weight", "rg_lru.input_gate_bias"},
                                           {"rg_lru.recurrent_gate_weight", "rg_lru.recurrent_gate_bias"}};
    const int64_t weight[] = {sizes->heads, sizes->head_dim, sizes->head_dim};
    const int64_t width = sizes->heads * sizes->head_dim;
    graft_describe_vector(sink, "rg_lru.recurrent_param", width, error);
    for (int i = 0; i < 2; i++) {
        graft_describe_parameter(sink, gates[i][0], 3, weight, 0, GRAFT_INIT_NONE, error);
        graft_describe_parameter(sink, gates[i][1], 2, weight, 0, GRAFT_INIT_NONE, error);
    }
    graft_describe_state(sink, "recurrent_states", 1, &width, GRAFT_DTYPE_F32, error);
}

int graft_rg_lru_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    *sizes = (struct sizes){
        .hidden_size = graft_args_int(args, "hidden_size", 0),
        .heads = graft_read_int(&reader, D_MIXER_HEADS),
        .head_dim = graft_read_int(&reader, D_MIXER_HEAD_DIM),
    };
    const int64_t width = sizes->heads * sizes->head_dim;
    graft_describe_linear(sink, "linear_x", sizes->hidden_size, width, 1, error);
    graft_describe_linear(sink, "linear_y", sizes->hidden_size, width, 1, error);
    graft_describe_linear(sink, graft_description_name(self->data, D_MIXER_OUTPUT), width, sizes->hidden_size, 1,
                          error);
    graft_mixer_describe_act(&reader, "act_fn", sink, error);
    graft_mixer_describe_conv(&reader, width, sink, error);
    describe_parameters(sizes, sink, error);
    return error->code;
}

int graft_rg_lru_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_description *description = cls->data;
    struct rg_lru *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->linear_x = graft_build_child(build, "linear_x", error);
    self->linear_y = graft_build_child(build, "linear_y", error);
    self->conv = graft_build_child(build, graft_description_name(description, D_MIXER_CONV), error);
    self->act_fn = graft_build_child(build, "act_fn", error);
    self->output = graft_build_child(build, graft_description_name(description, D_MIXER_OUTPUT), error);
    self->recurrent_param = graft_build_weight(build, "rg_lru.recurrent_param", error);
    self->input_gate_weight = graft_build_weight(build, "rg_lru.input_gate_weight", error);
    self->input_gate_bias = graft_build_weight(build, "rg_lru.input_gate_bias", error);
    self->recurrent_gate_weight = graft_build_weight(build, "rg_lru.recurrent_gate_weight", error);
    self->recurrent_gate_bias = graft_build_weight(build, "rg_lru.recurrent_gate_bias", error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}

/* One sequence: its inputs, gates, outputs and state, and the module's widened weights. */
struct work {
    const struct graft_head_gate_loops *loops;
    struct sizes sizes;
    const float *weights[2]; /* [heads, head_dim, head_dim] of the input gate and of the recurrent one */
    const float *biases[2];  /* [heads, head_dim] */
    const float *decays;     /* [heads * head_dim]: -8 softplus(recurrent_param) */
    int64_t tokens;
    const int64_t *positions; /* [tokens] */
    const float *x;           /* [tokens, heads * head_dim] */
    float *gates[2];          /* [tokens, heads * head_dim]: of inputs and of the recurrence, before the sigmoid */
    float *y;                 /* likewise */
    float *state;             /* [heads * head_dim] */
};

static void run_token(const struct work *work, int64_t head, int64_t t) {
    const int64_t dim = work->sizes.head_dim, first = head * dim;
    const int64_t at = t * work->sizes.heads * dim + first;
    const int is_first = work->positions[t] == 0;
    for (int i = 0; i < 2; i++) {
        work->loops->multiply(work->x + at, work->weights[i] + first * dim, work->biases[i] + first, dim,
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

static int recur(const struct rg_lru *self, const struct graft_call *call, const struct graft_batch *batch,
                 const float *x, float *y, struct graft_error *error) {
    const int64_t dim = self->sizes.head_dim, width = self->sizes.heads * dim;
    float *decays = graft_scratch_widened(call, self->recurrent_param, error);
    float *gates[] = {graft_scratch_floats(call, batch->tokens, width, error),
                      graft_scratch_floats(call, batch->tokens, width, error)};
    struct work work = {
        .loops = self->loops,
        .sizes = self->sizes,
        .weights = {graft_scratch_widened(call, self->input_gate_weight, error),
                    graft_scratch_widened(call, self->recurrent_gate_weight, error)},
        .biases = {graft_scratch_widened(call, self->input_gate_bias, error),
                   graft_scratch_widened(call, self->recurrent_gate_bias, error)},
        .decays = decays,
    };
    if (work.weights[0] == NULL || work.weights[1] == NULL || work.biases[0] == NULL || work.biases[1] == NULL ||
        decays == NULL || gates[0] == NULL || gates[1] == NULL) {
        return GRAFT_ERROR_INTERNAL;
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
        work.state = graft_state_get(call, batch, self->recurrent_states, s, error);
        if (work.state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        call->threads->parallel_for(self->sizes.heads, 1 + GRAFT_MIXER_WORK / (1 + work.tokens * dim * dim), run_heads,
                                    &work);
    }
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rg_lru *self = instance;
    const int64_t tokens = args->batch->tokens, width = self->sizes.heads * self->sizes.head_dim;
    float *x = graft_scratch_floats(call, tokens, width, error); /* [tokens, heads * head_dim], like the other arrays */
    float *gate = graft_scratch_floats(call, tokens, width, error); /* the other branch */
    float *convolved = graft_scratch_floats(call, tokens, width, error);
    float *y = graft_scratch_floats(call, tokens, width, error);
    const struct graft_module *projections[] = {self->linear_x, self->linear_y};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, x},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, gate},
    };
    const struct graft_causal_conv1d_args conv_args = {sizeof conv_args, 0, args->batch, x, convolved};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * width, gate, gate};
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, y, args->output};
    if (x == NULL || gate == NULL || convolved == NULL || y == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act_fn, call, &act_args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_causal_conv1d_forward(self->conv, call, &conv_args, error);
    }
    if (status == GRAFT_OK) {
        status = recur(self, call, args->batch, convolved, y, error);
    }
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        y[i] *= gate[i];
    }
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

const struct graft_mixer graft_rg_lru_vtable = {.struct_size = sizeof graft_rg_lru_vtable, .forward = forward};
