/* SPDX-License-Identifier: Apache-2.0 */
/* Which experts a token goes to: those with the largest logits, weighted by the softmax over these alone. */
#include <stdlib.h>

#include "gpt_oss.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct router {
    const struct graft_weight *weight; /* [num_experts, hidden_size] */
    const struct graft_weight *bias;   /* [num_experts] */
};

int gpt_oss_router_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[] = {graft_args_int(args, "num_experts", 0), graft_args_int(args, "hidden_size", 0)};
    (void)self;
    (void)config;
    int status = graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    return status == GRAFT_OK ? graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error) : status;
}

int gpt_oss_router_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    struct router *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->weight = graft_build_weight(build, "weight", &status, error);
    self->bias = graft_build_weight(build, "bias", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error) {
    const struct router *self = instance;
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = self->weight,
        .bias = self->bias,
        .rows = args->experts,
        .x = args->hidden_states,
        .x_stride = self->weight->columns,
        .tokens = args->tokens,
        .y = args->logits,
        .y_stride = args->experts,
    };
    int status = call->kernels->linear(call, &product, 1, sizeof product, error);
    if (status == GRAFT_OK) {
        status = call->kernels->top_k(call, args->logits, args->tokens, args->experts, args->k, args->top_k_index,
                                      args->top_k_weights, error);
    }
    return status == GRAFT_OK ? call->kernels->softmax(call, args->top_k_weights, args->tokens, args->k, error)
                              : status;
}

const struct graft_router gpt_oss_router_vtable = {.struct_size = sizeof gpt_oss_router_vtable, .forward = forward};
