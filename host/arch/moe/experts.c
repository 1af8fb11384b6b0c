/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as stacked parameters. An experts implementation computes them, which the host chooses by name
 * (graft/experts_implementation.h). */
#include "arch/moe/experts.h"

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

static void outline(struct graft_outline *of, struct experts *self) {
    const uint32_t features = graft_experts_features(of->args);
    const struct graft_expert_sizes *sizes = &self->sizes;
    graft_args_expert_sizes(of->args, of->sink->path, &self->sizes, of->error);
    if ((features & GRAFT_EXPERTS_GATING) != 0) {
        graft_swiglu_check(of->args, of->sink->path, of->error);
    }
    self->swiglu = graft_swiglu_of(of->args);
    const int64_t gate_up_shape[] = {sizes->num_experts, 2 * sizes->intermediate_size, sizes->hidden_size};
    const int64_t down_shape[] = {sizes->num_experts, sizes->hidden_size, sizes->intermediate_size};
    const int has_biases = (features & GRAFT_EXPERTS_BIASES) != 0;
    graft_outline_parameter(of, &self->gate_up_proj, "gate_up_proj", 3, gate_up_shape);
    graft_outline_parameter(of, &self->down_proj, "down_proj", 3, down_shape);
    graft_outline_parameter(of, &self->gate_up_proj_bias, has_biases ? "gate_up_proj_bias" : NULL, 2, gate_up_shape);
    graft_outline_parameter(of, &self->down_proj_bias, has_biases ? "down_proj_bias" : NULL, 2, down_shape);
    graft_outline_activation(of, &self->act_fn, (features & GRAFT_EXPERTS_GATING) == 0 ? "act_fn" : NULL);
}

GRAFT_OUTLINED(graft_experts, struct experts)

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
