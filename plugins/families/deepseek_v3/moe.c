/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of an MLP: experts chosen for each token, and some that all tokens share, as one MLP without a gate. */
#include <stdlib.h>

#include "deepseek.h"
#include "graft/describe.h"
#include "graft/experts.h"

struct sizes {
    int64_t hidden;
    int64_t experts;
    int64_t experts_per_token;
};

struct moe {
    struct sizes sizes;
    const struct graft_module *gate; /* the router */
    const struct graft_module *experts;
    const struct graft_module *shared_experts;
};

int deepseek_moe_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct deepseek_traits *traits = self->data;
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    int64_t intermediate = 0;                                           /* of one expert */
    int64_t shared = 0;                                                 /* experts that are */
    int status = sizes != NULL
                     ? graft_args_size(args, "hidden_size", DEEPSEEK_MAX_SIZE, sink->path, &sizes->hidden, error)
                     : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "num_experts", 1, DEEPSEEK_MAX_EXPERTS, &sizes->experts, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_config_need_int(config, "num_experts_per_tok", 1, sizes->experts, &sizes->experts_per_token, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "moe_intermediate_size", 1, DEEPSEEK_MAX_SIZE, &intermediate, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "n_shared_experts", 1, DEEPSEEK_MAX_EXPERTS, &shared, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg experts_args[] = {graft_int_arg("num_experts", sizes->experts),
                                             graft_int_arg("hidden_size", sizes->hidden),
                                             graft_int_arg("intermediate_size", intermediate)};
    const struct graft_arg shared_args[] = {
        graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0)), graft_int_arg("hidden_size", sizes->hidden),
        graft_int_arg("intermediate_size", shared * intermediate),
        graft_int_arg("mlp_bias", graft_args_int(args, "mlp_bias", 0)),
        graft_string_arg("hidden_act", graft_args_string(args, "hidden_act", "silu"))};
    status = graft_describe_child(sink, "gate", traits->router, GRAFT_INTERFACE_ROUTER, NULL, 0, error);
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, "experts", traits->experts, GRAFT_INTERFACE_EXPERTS, experts_args, 3, error);
    }
    return status == GRAFT_OK
               ? graft_describe_child(sink, "shared_experts", traits->mlp, GRAFT_INTERFACE_MLP, shared_args, 5, error)
               : status;
}

int deepseek_moe_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct moe *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    self->gate = graft_build_child(build, "gate", &status, error);
    self->experts = graft_build_child(build, "experts", &status, error);
    self->shared_experts = graft_build_child(build, "shared_experts", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* output = the chosen experts, weighted. */
static int run_experts(const struct moe *self, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    int64_t k = self->sizes.experts_per_token;
    float *logits = graft_scratch_floats(call, args->tokens, self->sizes.experts, error); /* [tokens, experts] */
    float *weights = graft_scratch_floats(call, args->tokens, k, error);                  /* [tokens, k] */
    int32_t *index = graft_scratch_ints(call, args->tokens * k, error);                   /* [tokens, k] */
    const struct graft_router_args router_args = {
        .struct_size = sizeof router_args,
        .tokens = args->tokens,
        .experts = self->sizes.experts,
        .k = k,
        .hidden_states = args->hidden_states,
        .logits = logits,
        .top_k_index = index,
        .top_k_weights = weights,
    };
    const struct graft_experts_args experts_args = {
        .struct_size = sizeof experts_args,
        .tokens = args->tokens,
        .k = k,
        .hidden_states = args->hidden_states,
        .top_k_index = index,
        .top_k_weights = weights,
        .output = args->output,
    };
    if (logits == NULL || weights == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_router_forward(self->gate, call, &router_args, error);
    return status == GRAFT_OK ? graft_experts_forward(self->experts, call, &experts_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct moe *self = instance;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = run_experts(self, call, args, error);
    call->scratch_release(call->scratch, mark);
    float *shared = graft_scratch_floats(call, args->tokens, self->sizes.hidden, error); /* [tokens, hidden] */
    const struct graft_mlp_args shared_args = {sizeof shared_args, 0, args->tokens, args->hidden_states, shared};
    if (shared == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->shared_experts, call, &shared_args, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, args->output, shared, args->tokens * self->sizes.hidden, error)
                              : status;
}

const struct graft_mlp deepseek_moe_vtable = {.struct_size = sizeof deepseek_moe_vtable, .forward = forward};
