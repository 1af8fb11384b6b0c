/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as two stacked parameters. How they are computed is chosen by name. */
#include "arch/moe/experts.h"

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct experts {
    struct graft_instance base;
    const struct graft_weight *gate_up_proj; /* [num_experts, 2 * intermediate_size, hidden_size] */
    const struct graft_weight *down_proj;    /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;
    int64_t num_experts;
    int64_t hidden_size;
    int64_t intermediate_size;
};

int graft_experts_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_config *decoder;
    (void)args;
    int status = graft_decoder_config_keep(config, self->data, sink, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t gate_up_shape[] = {decoder->num_experts, 2 * decoder->moe_intermediate_size, decoder->hidden_size};
    const int64_t down_shape[] = {decoder->num_experts, decoder->hidden_size, decoder->moe_intermediate_size};
    status = graft_describe_parameter(sink, "gate_up_proj", 3, gate_up_shape, 0, GRAFT_INIT_NONE, error);
    if (status == GRAFT_OK) {
        status = graft_describe_parameter(sink, "down_proj", 3, down_shape, 0, GRAFT_INIT_NONE, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error) : status;
}

int graft_experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    const struct graft_decoder_config *decoder = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct experts *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->num_experts = decoder->num_experts;
    self->hidden_size = decoder->hidden_size;
    self->intermediate_size = decoder->moe_intermediate_size;
    self->gate_up_proj = graft_build_weight(build, "gate_up_proj", &status, error);
    self->down_proj = graft_build_weight(build, "down_proj", &status, error);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct experts *self = instance;
    const struct graft_experts_input input = {
        .struct_size = sizeof input,
        .path = self->base.path,
        .tokens = args->tokens,
        .k = args->k,
        .num_experts = self->num_experts,
        .hidden_size = self->hidden_size,
        .intermediate_size = self->intermediate_size,
        .hidden_states = args->hidden_states,
        .top_k_index = args->top_k_index,
        .top_k_weights = args->top_k_weights,
        .gate_up_proj = self->gate_up_proj,
        .down_proj = self->down_proj,
        .act_fn = self->act_fn,
        .output = args->output,
    };
    return call->kernels->experts(call, &graft_experts_grouped_mm, &input, error);
}

const struct graft_experts graft_experts_vtable = {
    .struct_size = sizeof graft_experts_vtable,
    .forward = forward,
};
