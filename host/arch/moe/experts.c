/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as stacked parameters. An experts implementation computes them, which the host chooses by name
 * (graft/experts_implementation.h). */
#include "arch/moe/experts.h"

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/swiglu.h"

/* The parent's arguments (graft/experts.h), and the weights. */
struct experts {
    struct graft_instance base;
    const struct graft_weight *gate_up_proj;      /* [num_experts, 2 * intermediate_size, hidden_size] */
    const struct graft_weight *gate_up_proj_bias; /* [num_experts, 2 * intermediate_size]; NULL: none */
    const struct graft_weight *down_proj;         /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_weight *down_proj_bias;    /* [num_experts, hidden_size]; NULL: none */
    const struct graft_module *act_fn;            /* NULL: `swiglu` */
    struct graft_swiglu swiglu;
    struct graft_expert_sizes sizes;
};

int graft_experts_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_expert_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    uint32_t features = graft_experts_features(args);
    (void)self;
    int status = sizes != NULL ? graft_args_expert_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && (features & GRAFT_EXPERTS_GATING) != 0) {
        status = graft_swiglu_check(args, sink->path, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t gate_up_shape[] = {sizes->num_experts, 2 * sizes->intermediate_size, sizes->hidden_size};
    const int64_t down_shape[] = {sizes->num_experts, sizes->hidden_size, sizes->intermediate_size};
    graft_describe_parameter(sink, "gate_up_proj", 3, gate_up_shape, 0, GRAFT_INIT_NONE, error);
    graft_describe_parameter(sink, "down_proj", 3, down_shape, 0, GRAFT_INIT_NONE, error);
    if ((features & GRAFT_EXPERTS_BIASES) != 0) {
        graft_describe_parameter(sink, "gate_up_proj_bias", 2, gate_up_shape, 0, GRAFT_INIT_NONE, error);
        graft_describe_parameter(sink, "down_proj_bias", 2, down_shape, 0, GRAFT_INIT_NONE, error);
    }
    if ((features & GRAFT_EXPERTS_GATING) == 0) {
        graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error);
    }
    return error->code;
}

int graft_experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    const struct graft_expert_sizes *sizes = build->kept;
    (void)cls;
    struct experts *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->swiglu = graft_swiglu_of(build->args);
    self->gate_up_proj = graft_build_weight(build, "gate_up_proj", error);
    self->gate_up_proj_bias = build->weight(build->data, "gate_up_proj_bias");
    self->down_proj = graft_build_weight(build, "down_proj", error);
    self->down_proj_bias = build->weight(build->data, "down_proj_bias");
    if ((graft_experts_features(build->args) & GRAFT_EXPERTS_GATING) == 0) {
        self->act_fn = graft_build_child(build, "act_fn", error);
    }
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    struct experts *self = instance;
    const struct graft_experts_input input = {
        .struct_size = sizeof input,
        .path = self->base.path,
        .tokens = args->tokens,
        .k = args->k,
        .num_experts = self->sizes.num_experts,
        .hidden_size = self->sizes.hidden_size,
        .intermediate_size = self->sizes.intermediate_size,
        .hidden_states = args->hidden_states,
        .top_k_index = args->top_k_index,
        .top_k_weights = args->top_k_weights,
        .gate_up_proj = self->gate_up_proj,
        .gate_up_bias = self->gate_up_proj_bias,
        .down_proj = self->down_proj,
        .down_bias = self->down_proj_bias,
        .act_fn = self->act_fn,
        .gating = self->act_fn == NULL ? graft_swiglu_gate : NULL,
        .gating_instance = &self->swiglu,
        .output = args->output,
    };
    return call->kernels->experts(call, &graft_experts_grouped_mm, &input, error);
}

const struct graft_experts graft_experts_vtable = {
    .struct_size = sizeof graft_experts_vtable,
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING,
    .forward = forward,
};
