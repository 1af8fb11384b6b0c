/* SPDX-License-Identifier: Apache-2.0 */
/* Experts chosen per token, in place of an MLP; in some families also a shared one with a gate of its own. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct sparse_moe_block {
    struct graft_instance base;
    const struct graft_module *gate; /* the router */
    const struct graft_module *experts;
    const struct graft_module *shared_expert;      /* NULL without traits->shared_expert */
    const struct graft_module *shared_expert_gate; /* hidden_size -> 1 */
    int64_t hidden_size;
    int64_t num_experts;
    int64_t num_experts_per_tok;
};

int graft_sparse_moe_block_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    const struct graft_decoder_config *decoder;
    int status = graft_decoder_config_keep(config, traits, sink, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg shared_args[] = {
        graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0)),
        graft_int_arg("hidden_size", decoder->hidden_size),
        graft_int_arg("intermediate_size", decoder->shared_expert_intermediate_size),
        graft_int_arg("mlp_bias", decoder->mlp_bias), graft_string_arg("hidden_act", decoder->hidden_act)};
    const struct graft_arg experts_args[] = {graft_int_arg("num_experts", decoder->num_experts),
                                             graft_int_arg("hidden_size", decoder->hidden_size),
                                             graft_int_arg("intermediate_size", decoder->moe_intermediate_size)};
    status = graft_describe_child(sink, "gate", traits->router, GRAFT_INTERFACE_ROUTER, NULL, 0, error);
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, "experts", traits->experts, GRAFT_INTERFACE_EXPERTS, experts_args, 3, error);
    }
    if (status != GRAFT_OK || !traits->shared_expert) {
        return status;
    }
    status = graft_describe_child(sink, "shared_expert", traits->mlp, GRAFT_INTERFACE_MLP, shared_args, 5, error);
    return status == GRAFT_OK ? graft_describe_linear(sink, "shared_expert_gate", decoder->hidden_size, 1, 0, error)
                              : status;
}

int graft_sparse_moe_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct graft_decoder_traits *traits = cls->data;
    const struct graft_decoder_config *decoder = build->kept;
    int status = GRAFT_OK;
    struct sparse_moe_block *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = decoder->hidden_size;
    self->num_experts = decoder->num_experts;
    self->num_experts_per_tok = decoder->num_experts_per_tok;
    self->gate = graft_build_child(build, "gate", &status, error);
    self->experts = graft_build_child(build, "experts", &status, error);
    if (traits->shared_expert) {
        self->shared_expert = graft_build_child(build, "shared_expert", &status, error);
        self->shared_expert_gate = graft_build_child(build, "shared_expert_gate", &status, error);
    }
    return graft_instance_finish(self, status, instance);
}

/* output = the chosen experts, weighted. */
static int run_experts(const struct sparse_moe_block *self, const struct graft_call *call,
                       const struct graft_mlp_args *args, struct graft_error *error) {
    int64_t tokens = args->tokens;
    int64_t k = self->num_experts_per_tok;
    float *logits = graft_scratch_floats(call, tokens, self->num_experts, error); /* [tokens, num_experts] */
    float *weights = graft_scratch_floats(call, tokens, k, error);                /* [tokens, k] */
    int32_t *index = graft_scratch_ints(call, tokens * k, error);                 /* [tokens, k] */
    if (logits == NULL || weights == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_router_args router_args = {
        .struct_size = sizeof router_args,
        .tokens = tokens,
        .experts = self->num_experts,
        .k = k,
        .hidden_states = args->hidden_states,
        .logits = logits,
        .top_k_index = index,
        .top_k_weights = weights,
    };
    const struct graft_experts_args experts_args = {
        .struct_size = sizeof experts_args,
        .tokens = tokens,
        .k = k,
        .hidden_states = args->hidden_states,
        .top_k_index = index,
        .top_k_weights = weights,
        .output = args->output,
    };
    int status = graft_router_forward(self->gate, call, &router_args, error);
    return status == GRAFT_OK ? graft_experts_forward(self->experts, call, &experts_args, error) : status;
}

/* output += sigmoid(shared_expert_gate(x)) * shared_expert(x). */
static int add_shared_expert(const struct sparse_moe_block *self, const struct graft_call *call,
                             const struct graft_mlp_args *args, struct graft_error *error) {
    int64_t tokens = args->tokens;
    float *shared = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden] */
    float *gate = graft_scratch_floats(call, tokens, 1, error);                   /* [tokens] */
    int32_t *index = graft_scratch_ints(call, tokens, error);                     /* [tokens] */
    const struct graft_mlp_args shared_args = {sizeof shared_args, 0, tokens, args->hidden_states, shared};
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, tokens, args->hidden_states, gate};
    if (shared == NULL || gate == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_mlp_forward(self->shared_expert, call, &shared_args, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->shared_expert_gate, call, &gate_args, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    for (int64_t t = 0; t < tokens; t++) {
        index[t] = (int32_t)t;
    }
    status = call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, gate, tokens, gate, error);
    if (status == GRAFT_OK) {
        status =
            call->kernels->scatter_add_rows(call, shared, gate, index, tokens, self->hidden_size, args->output, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct sparse_moe_block *self = instance;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = run_experts(self, call, args, error);
    call->scratch_release(call->scratch, mark);
    return status == GRAFT_OK && self->shared_expert != NULL ? add_shared_expert(self, call, args, error) : status;
}

const struct graft_mlp graft_sparse_moe_block_vtable = {
    .struct_size = sizeof graft_sparse_moe_block_vtable,
    .forward = forward,
};
