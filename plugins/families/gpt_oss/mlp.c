/* SPDX-License-Identifier: Apache-2.0 */
/* A router and experts in the place of an MLP. */
#include <stdlib.h>

#include "gpt_oss.h"
#include "graft/describe.h"
#include "graft/experts.h"

enum { MAX_EXPERTS = 4096 };

/* What config.json says. */
struct sizes {
    int64_t num_experts;
    int64_t num_experts_per_tok;
    double swiglu_alpha;
    double swiglu_limit;
};

struct mlp {
    const struct graft_module *router;
    const struct graft_module *experts;
    int64_t num_experts;
    int64_t num_experts_per_tok;
    uint32_t features; /* that the experts must have */
};

static int read_sizes(const struct graft_config *config, struct sizes *sizes, struct graft_error *error) {
    const struct {
        const char *field;
        double *value;
    } reals[] = {{"swiglu_alpha", &sizes->swiglu_alpha}, {"swiglu_limit", &sizes->swiglu_limit}};
    int status = graft_config_need_int(config, "num_local_experts", 1, MAX_EXPERTS, &sizes->num_experts, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "num_experts_per_tok", 1, sizes->num_experts,
                                       &sizes->num_experts_per_tok, error);
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0] && status == GRAFT_OK; i++) {
        status = graft_config_not_null(config, reals[i].field, "a number", error);
        if (status == GRAFT_OK) {
            status = graft_config_real(config, reals[i].field, 0.0, reals[i].value, error);
        }
    }
    return status;
}

int gpt_oss_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)self;
    int status = sizes != NULL ? read_sizes(config, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg given[] = {
        graft_int_arg("num_experts", sizes->num_experts),
        graft_int_arg("hidden_size", graft_args_int(args, "hidden_size", 0)),
        graft_int_arg("intermediate_size", graft_args_int(args, "intermediate_size", 0)),
        graft_int_arg("bias", 1),
        graft_real_arg("swiglu_alpha", sizes->swiglu_alpha),
        graft_real_arg("swiglu_limit", sizes->swiglu_limit),
    };
    status = graft_describe_child(sink, "router", "GptOssTopKRouter", GRAFT_INTERFACE_ROUTER, given, 2, error);
    return status == GRAFT_OK
               ? graft_describe_child(sink, "experts", "GptOssExperts", GRAFT_INTERFACE_EXPERTS, given, 6, error)
               : status;
}

int gpt_oss_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct mlp *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->num_experts = sizes->num_experts;
    self->num_experts_per_tok = sizes->num_experts_per_tok;
    self->features = graft_experts_features(build->child_args(build->data, "experts"));
    self->router = graft_build_child(build, "router", &status, error);
    self->experts = graft_build_child(build, "experts", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    int64_t tokens = args->tokens, k = self->num_experts_per_tok;
    float *logits = graft_scratch_floats(call, tokens, self->num_experts, error); /* [tokens, num_experts] */
    float *weights = graft_scratch_floats(call, tokens, k, error);                /* [tokens, k] */
    int32_t *index = graft_scratch_ints(call, tokens * k, error);                 /* [tokens, k] */
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
        .required_features = self->features,
        .tokens = tokens,
        .k = k,
        .hidden_states = args->hidden_states,
        .top_k_index = index,
        .top_k_weights = weights,
        .output = args->output,
    };
    if (logits == NULL || weights == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_router_forward(self->router, call, &router_args, error);
    return status == GRAFT_OK ? graft_experts_forward(self->experts, call, &experts_args, error) : status;
}

const struct graft_mlp gpt_oss_mlp_vtable = {.struct_size = sizeof gpt_oss_mlp_vtable, .forward = forward};
