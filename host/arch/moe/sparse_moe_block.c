/* SPDX-License-Identifier: Apache-2.0 */
/* Experts that are chosen for each token, in place of an MLP; in some families also a shared expert with a gate of its
 * own. */
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/moe/mixture.h"
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    int64_t hidden_size;
    int64_t num_experts;
    int64_t latent; /* width of the experts' input; 0: hidden_size */
    int32_t has_shared;
    int32_t weighs_input; /* 1: weights multiply the experts' inputs, not their outputs */
    float sum_scale;      /* factor of the sum of experts and shared expert */
};

struct sparse_moe_block {
    struct graft_instance base;
    struct kept kept;
    struct graft_mixture mixture;         /* without experts only the shared expert runs */
    const struct graft_module *latent_in; /* hidden_size -> latent; NULL: none, nor latent_out */
    const struct graft_module *latent_out;
    const struct graft_module *shared_expert;      /* NULL: none */
    const struct graft_module *shared_expert_gate; /* hidden_size -> 1; NULL: none */
    const struct graft_weight *sum_bias;           /* [hidden_size]; NULL: none */
};

static void describe_shared(const struct graft_description *description, const struct graft_args *args,
                            int64_t hidden_size, int64_t size, const struct graft_sink *sink,
                            struct graft_error *error) {
    const char *name = graft_description_name(description, D_MOE_SHARED_NAME);
    const char *gate = graft_description_name(description, D_MOE_SHARED_GATE);
    const struct graft_arg shared_args[] = {
        graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0)),
        graft_int_arg("hidden_size", hidden_size),
        graft_int_arg("intermediate_size", size),
        graft_int_arg("mlp_bias", graft_args_int(args, "mlp_bias", 0)),
        graft_string_arg("hidden_act", graft_args_string(args, "hidden_act", "silu")),
    };
    graft_describe_child(sink, name, graft_description_name(description, D_CLASS_MLP), GRAFT_INTERFACE_MLP, shared_args,
                         5, error);
    if (gate != NULL) {
        graft_describe_linear(sink, gate, hidden_size, 1, 0, error);
    }
}

static void describe_latents(const struct graft_description *description, const struct kept *kept, int32_t bias,
                             const struct graft_sink *sink, struct graft_error *error) {
    graft_describe_linear(sink, graft_description_name(description, D_MOE_LATENT_IN), kept->hidden_size, kept->latent,
                          bias, error);
    graft_describe_linear(sink, graft_description_name(description, D_MOE_LATENT_OUT), kept->latent, kept->hidden_size,
                          bias, error);
}

int graft_sparse_moe_block_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    const struct graft_description *description = self->data;
    const int64_t layer = graft_args_int(args, "layer_idx", 0);
    const char *sum_bias = graft_description_name(description, D_MOE_SUM_BIAS);
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, description, config, layer, error);
    kept->hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE);
    kept->num_experts = graft_read_int(&reader, D_MOE_EXPERTS);
    kept->weighs_input = graft_read_bool(&reader, D_MOE_WEIGHS_INPUT);
    kept->latent = graft_read_int(&reader, D_MOE_LATENT);
    kept->sum_scale = (float)graft_read_real(&reader, D_MOE_SUM_SCALE);
    kept->has_shared = graft_description_name(description, D_MOE_SHARED_NAME) != NULL &&
                       !graft_read_is_null(&reader, D_MOE_SHARED_SIZE);
    const int64_t shared_size = kept->has_shared ? graft_read_int(&reader, D_MOE_SHARED_SIZE) : 0;
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    const int64_t width = kept->latent > 0 ? kept->latent : kept->hidden_size;
    if (kept->num_experts > 0 || !kept->has_shared) {
        graft_mixture_describe(&reader, width, args, sink, error);
    }
    if (kept->latent > 0) {
        describe_latents(description, kept, graft_args_int(args, "mlp_bias", 0) != 0, sink, error);
    }
    if (sum_bias != NULL) {
        graft_describe_vector(sink, sum_bias, kept->hidden_size, error);
    }
    if (kept->has_shared) {
        describe_shared(description, args, kept->hidden_size, shared_size, sink, error);
    }
    return error->code;
}

int graft_sparse_moe_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct graft_description *description = cls->data;
    const char *shared_gate = graft_description_name(description, D_MOE_SHARED_GATE);
    const char *sum_bias = graft_description_name(description, D_MOE_SUM_BIAS);
    struct graft_reader reader;
    struct sparse_moe_block *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    if (self->kept.num_experts > 0) {
        graft_reader_start(&reader, description, build->config, graft_args_int(build->args, "layer_idx", 0), error);
        graft_mixture_find(&self->mixture, &reader, build, error);
    }
    if (self->kept.latent > 0) {
        self->latent_in = graft_build_child(build, graft_description_name(description, D_MOE_LATENT_IN), error);
        self->latent_out = graft_build_child(build, graft_description_name(description, D_MOE_LATENT_OUT), error);
    }
    if (self->kept.has_shared) {
        self->shared_expert = graft_build_child(build, graft_description_name(description, D_MOE_SHARED_NAME), error);
    }
    if (self->kept.has_shared && shared_gate != NULL) {
        self->shared_expert_gate = graft_build_child(build, shared_gate, error);
    }
    if (sum_bias != NULL) {
        self->sum_bias = graft_build_weight(build, sum_bias, error);
    }
    return graft_instance_finish(self, instance, error);
}

/* Runs experts with weighted inputs: each pair of a token and an expert is a token of its own, multiplied by its
 * weight; output = the sum over each token's pairs. */
static int run_on_weighted(const struct sparse_moe_block *self, const struct graft_call *call,
                           const struct graft_experts_args *args, struct graft_error *error) {
    const int64_t pairs = args->tokens * args->k;
    const int64_t width = self->kept.hidden_size;
    float *x = graft_scratch_floats(call, pairs, width, error);   /* [tokens, k, hidden_size] */
    float *y = graft_scratch_floats(call, pairs, width, error);   /* likewise */
    float *weights = graft_scratch_floats(call, pairs, 1, error); /* [tokens, k] */
    int32_t *rows = graft_scratch_ints(call, pairs, error);       /* [tokens, k]: each pair's token */
    struct graft_experts_args each = *args;
    struct graft_gathered_call space;
    if (x == NULL || y == NULL || weights == NULL || rows == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < pairs; i++) {
        rows[i] = (int32_t)(i / args->k);
        const float *from = args->hidden_states + i / args->k * width;
        for (int64_t d = 0; d < width; d++) {
            x[i * width + d] = from[d] * args->top_k_weights[i];
        }
        weights[i] = 1.0f;
    }
    each.tokens = pairs;
    each.k = 1;
    each.hidden_states = x;
    each.top_k_weights = weights;
    each.output = y;
    const struct graft_call *pairs_call = graft_call_route(call, args->tokens, rows, pairs, &space, error);
    int status = pairs_call != NULL ? graft_experts_forward(self->mixture.experts, pairs_call, &each, error)
                                    : GRAFT_ERROR_INTERNAL;
    for (int64_t i = 0; i < args->tokens * width && status == GRAFT_OK; i++) {
        float sum = 0.0f;
        for (int64_t j = 0; j < args->k; j++) {
            sum += y[(i / width * args->k + j) * width + i % width];
        }
        args->output[i] = sum;
    }
    return status;
}

/* Runs the experts, between the projections to and from a latent if there are any. */
static int run_between(const struct sparse_moe_block *self, const struct graft_call *call,
                       const struct graft_experts_args *args, struct graft_error *error) {
    if (self->latent_in == NULL) {
        return graft_experts_forward(self->mixture.experts, call, args, error);
    }
    float *x = graft_scratch_floats(call, args->tokens, self->kept.latent, error); /* [tokens, latent] */
    float *y = graft_scratch_floats(call, args->tokens, self->kept.latent, error); /* [tokens, latent] */
    struct graft_experts_args between = *args;
    const struct graft_linear_args in_args = {sizeof in_args, 0, args->tokens, args->hidden_states, x};
    const struct graft_linear_args out_args = {sizeof out_args, 0, args->tokens, y, args->output};
    if (x == NULL || y == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    between.hidden_states = x;
    between.output = y;
    int status = graft_linear_forward(self->latent_in, call, &in_args, error);
    if (status == GRAFT_OK) {
        status = graft_experts_forward(self->mixture.experts, call, &between, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->latent_out, call, &out_args, error) : status;
}

/* output = the weighted sum of the chosen experts. */
static int run_experts(const struct sparse_moe_block *self, const struct graft_call *call,
                       const struct graft_mlp_args *args, struct graft_error *error) {
    struct graft_experts_args experts_args;
    int status = graft_mixture_route(&self->mixture, call, args->tokens, args->hidden_states, &experts_args, error);
    experts_args.hidden_states = args->hidden_states;
    experts_args.output = args->output;
    if (status == GRAFT_OK && self->kept.weighs_input) {
        return run_on_weighted(self, call, &experts_args, error);
    }
    return status == GRAFT_OK ? run_between(self, call, &experts_args, error) : status;
}

/* shared [tokens, hidden_size] *= sigmoid(shared_expert_gate(x)), a number for each token. */
static int apply_shared_gate(const struct sparse_moe_block *self, const struct graft_call *call,
                             const struct graft_mlp_args *args, float *shared, struct graft_error *error) {
    const int64_t tokens = args->tokens;
    const int64_t width = self->kept.hidden_size;
    float *gate = graft_scratch_floats(call, tokens, 1, error); /* [tokens] */
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, tokens, args->hidden_states, gate};
    if (gate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->shared_expert_gate, call, &gate_args, error);
    if (status == GRAFT_OK) {
        status = call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, gate, tokens, gate, error);
    }
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        shared[i] *= gate[i / width];
    }
    return status;
}

/* output += shared_expert(x), times its gate if it has one. */
static int add_shared_expert(const struct sparse_moe_block *self, const struct graft_call *call,
                             const struct graft_mlp_args *args, struct graft_error *error) {
    const int64_t tokens = args->tokens;
    float *shared = graft_scratch_floats(call, tokens, self->kept.hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_mlp_args shared_args = {sizeof shared_args, 0, tokens, args->hidden_states, shared};
    int status =
        shared != NULL ? graft_mlp_forward(self->shared_expert, call, &shared_args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && self->shared_expert_gate != NULL) {
        status = apply_shared_gate(self, call, args, shared, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, args->output, shared, tokens * self->kept.hidden_size, error)
                              : status;
}

/* Scales the sum of all experts and adds the bias. */
static int finish(const struct sparse_moe_block *self, const struct graft_call *call, const struct graft_mlp_args *args,
                  struct graft_error *error) {
    const int64_t width = self->kept.hidden_size;
    for (int64_t i = 0; self->kept.sum_scale != 1.0f && i < args->tokens * width; i++) {
        args->output[i] *= self->kept.sum_scale;
    }
    if (self->sum_bias == NULL) {
        return GRAFT_OK;
    }
    const float *bias = graft_scratch_widened(call, self->sum_bias, error); /* [hidden_size] */
    for (int64_t i = 0; bias != NULL && i < args->tokens * width; i++) {
        args->output[i] += bias[i % width];
    }
    return bias != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct sparse_moe_block *self = instance;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = GRAFT_OK;
    if (self->mixture.experts != NULL) {
        status = run_experts(self, call, args, error);
    } else {
        memset(args->output, 0, (size_t)(args->tokens * self->kept.hidden_size) * sizeof *args->output);
    }
    call->scratch_release(call->scratch, mark);
    if (status == GRAFT_OK && self->shared_expert != NULL) {
        status = add_shared_expert(self, call, args, error);
    }
    return status == GRAFT_OK ? finish(self, call, args, error) : status;
}

const struct graft_mlp graft_sparse_moe_block_vtable = {
    .struct_size = sizeof graft_sparse_moe_block_vtable,
    .forward = forward,
};
