/* SPDX-License-Identifier: Apache-2.0 */
/* Experts chosen per token, in place of an MLP; in some families also a shared one with a gate of its own. */
#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    int64_t hidden_size;
    int64_t num_experts;
    int64_t num_experts_per_tok;
};

struct sparse_moe_block {
    struct graft_instance base;
    struct kept kept;
    const struct graft_module *gate; /* the router */
    const struct graft_module *experts;
    const struct graft_module *shared_expert;      /* NULL: none */
    const struct graft_module *shared_expert_gate; /* hidden_size -> 1; NULL: none */
};

static int describe_shared(const struct graft_description *description, const struct graft_args *args,
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
    int status = graft_describe_child(sink, name, graft_description_name(description, D_CLASS_MLP), GRAFT_INTERFACE_MLP,
                                      shared_args, 5, error);
    return status == GRAFT_OK && gate != NULL ? graft_describe_linear(sink, gate, hidden_size, 1, 0, error) : status;
}

int graft_sparse_moe_block_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    const struct graft_description *description = self->data;
    const int32_t has_shared = graft_description_name(description, D_MOE_SHARED_NAME) != NULL;
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, description, config, -1, error);
    kept->hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE);
    kept->num_experts = graft_read_int(&reader, D_MOE_EXPERTS);
    kept->num_experts_per_tok = graft_read_int(&reader, D_MOE_TOP_K);
    const int64_t size = graft_read_int(&reader, D_MOE_SIZE);
    const int64_t shared_size = has_shared ? graft_read_int(&reader, D_MOE_SHARED_SIZE) : 0;
    if (reader.status == GRAFT_OK && kept->num_experts < 1) {
        graft_reader_fail(&reader, D_MOE_EXPERTS, "expected at least 1 expert, got 0");
    }
    if (reader.status == GRAFT_OK && kept->num_experts_per_tok > kept->num_experts) {
        graft_reader_fail(&reader, D_MOE_TOP_K, "expected at most the number of experts (%lld), got %lld",
                          (long long)kept->num_experts, (long long)kept->num_experts_per_tok);
    }
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    const struct graft_arg experts_args[] = {
        graft_int_arg("num_experts", kept->num_experts), graft_int_arg("hidden_size", kept->hidden_size),
        graft_int_arg("intermediate_size", size),
        graft_string_arg("hidden_act", graft_args_string(args, "hidden_act", "silu"))};
    int status = graft_describe_child(sink, graft_description_name(description, D_MOE_ROUTER_NAME),
                                      graft_description_name(description, D_CLASS_ROUTER), GRAFT_INTERFACE_ROUTER, NULL,
                                      0, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, graft_description_name(description, D_MOE_EXPERTS_NAME),
                                      graft_description_name(description, D_CLASS_EXPERTS), GRAFT_INTERFACE_EXPERTS,
                                      experts_args, 4, error);
    }
    return status == GRAFT_OK && has_shared
               ? describe_shared(description, args, kept->hidden_size, shared_size, sink, error)
               : status;
}

int graft_sparse_moe_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct graft_description *description = cls->data;
    const char *shared = graft_description_name(description, D_MOE_SHARED_NAME);
    const char *shared_gate = graft_description_name(description, D_MOE_SHARED_GATE);
    int status = GRAFT_OK;
    struct sparse_moe_block *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->gate = graft_build_child(build, graft_description_name(description, D_MOE_ROUTER_NAME), &status, error);
    self->experts = graft_build_child(build, graft_description_name(description, D_MOE_EXPERTS_NAME), &status, error);
    if (shared != NULL) {
        self->shared_expert = graft_build_child(build, shared, &status, error);
    }
    if (shared != NULL && shared_gate != NULL) {
        self->shared_expert_gate = graft_build_child(build, shared_gate, &status, error);
    }
    return graft_instance_finish(self, status, instance);
}

/* output = the chosen experts, weighted. */
static int run_experts(const struct sparse_moe_block *self, const struct graft_call *call,
                       const struct graft_mlp_args *args, struct graft_error *error) {
    int64_t tokens = args->tokens;
    int64_t k = self->kept.num_experts_per_tok;
    float *logits = graft_scratch_floats(call, tokens, self->kept.num_experts, error); /* [tokens, num_experts] */
    float *weights = graft_scratch_floats(call, tokens, k, error);                     /* [tokens, k] */
    int32_t *index = graft_scratch_ints(call, tokens * k, error);                      /* [tokens, k] */
    if (logits == NULL || weights == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_router_args router_args = {
        .struct_size = sizeof router_args,
        .tokens = tokens,
        .experts = self->kept.num_experts,
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

/* output += shared_expert(x), behind its gate if it has one. */
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
