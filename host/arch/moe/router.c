/* SPDX-License-Identifier: Apache-2.0 */
/* Which experts a token goes to: those with the largest probability, and that is their weight. */
#include <string.h>

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct router {
    struct graft_instance base;
    const struct graft_weight *weight; /* [num_experts, hidden_size] */
    int64_t num_experts;
    int64_t hidden_size;
    int32_t norm_topk_prob; /* the weights of a token add up to 1 */
};

int graft_router_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_config *decoder;
    (void)args;
    int status = graft_decoder_config_keep(config, self->data, sink, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t shape[] = {decoder->num_experts, decoder->hidden_size};
    return graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
}

int graft_router_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_decoder_config *decoder = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct router *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->num_experts = decoder->num_experts;
    self->hidden_size = decoder->hidden_size;
    self->norm_topk_prob = decoder->norm_topk_prob;
    self->weight = graft_build_weight(build, "weight", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* Makes each row of weights [tokens, k] add up to 1. */
static void normalise(float *weights, int64_t tokens, int64_t k) {
    for (int64_t t = 0; t < tokens; t++) {
        float *row = weights + t * k;
        float sum = 0.0f;
        for (int64_t j = 0; j < k; j++) {
            sum += row[j];
        }
        for (int64_t j = 0; j < k; j++) {
            row[j] /= sum;
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error) {
    const struct router *self = instance;
    int64_t tokens = args->tokens;
    int64_t experts = self->num_experts;
    float *probabilities = graft_scratch_floats(call, tokens, experts, error); /* [tokens, num_experts] */
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = self->weight,
        .rows = experts,
        .x = args->hidden_states,
        .x_stride = self->hidden_size,
        .tokens = tokens,
        .y = args->logits,
        .y_stride = experts,
    };
    if (probabilities == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = call->kernels->linear(call, &product, 1, sizeof(struct graft_product), error);
    if (status != GRAFT_OK) {
        return status;
    }
    memcpy(probabilities, args->logits, (size_t)(tokens * experts) * sizeof(float));
    status = call->kernels->softmax(call, probabilities, tokens, experts, error);
    if (status == GRAFT_OK) {
        status = call->kernels->top_k(call, probabilities, tokens, experts, args->k, args->top_k_index,
                                      args->top_k_weights, error);
    }
    if (status == GRAFT_OK && self->norm_topk_prob) {
        normalise(args->top_k_weights, tokens, args->k);
    }
    return status;
}

const struct graft_router graft_router_vtable = {
    .struct_size = sizeof graft_router_vtable,
    .forward = forward,
};
