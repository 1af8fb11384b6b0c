/* SPDX-License-Identifier: Apache-2.0 */
/* Stacked experts whose rows were quantized while the model was loaded. */
#include <stdio.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/expert_parts.h"
#include "graft/packed_experts.h"

const char *const graft_parts_expert_sources[6] = {"*.gate_proj.weight", "*.up_proj.weight", "*.down_proj.weight",
                                                   "*.w1.weight",        "*.w3.weight",      "*.w2.weight"};
const char *const graft_parts_stack_sources[2] = {"gate_up_proj", "down_proj"};
const char *const graft_parts_gate_up_targets[2] = {"gate_up_proj_qweight", "gate_up_proj_scales"};
const char *const graft_parts_down_targets[2] = {"down_proj_qweight", "down_proj_scales"};

const struct graft_condition graft_parts_unquantized = {sizeof graft_parts_unquantized, GRAFT_CONDITION_NO_CONFIG,
                                                        "quantization_config", NULL};

const char *const graft_parts_turned_types[2] = {"gpt_oss", NULL};

/* What `create` needs of `describe`. */
struct kept {
    struct graft_parts_quantized_experts part;
    struct graft_expert_sizes sizes;
};

struct experts {
    struct graft_instance base;
    struct graft_packed_experts packed;
};

/* --- Describing --- */

static int read_sizes(const struct graft_args *args, const char *path, struct graft_expert_sizes *sizes,
                      struct graft_error *error) {
    int status = graft_args_expert_sizes(args, path, sizes, error);
    return status == GRAFT_OK && (graft_experts_features(args) & GRAFT_EXPERTS_GATING) != 0
               ? graft_swiglu_check(args, path, error)
               : status;
}

/* NAME_qweight, NAME_scales and perhaps NAME_bias of `rows` outputs and `columns` inputs. */
static int describe_stack(const struct graft_quantizer *quantizer, const struct graft_sink *sink, const char *name,
                          const int64_t size[3], int32_t bias, struct graft_error *error) {
    const int64_t codes[3] = {size[0], size[1], graft_quantizer_elements(quantizer, size[2])};
    const int64_t scales[3] = {size[0], size[1], graft_quantizer_groups(quantizer, size[2])};
    char parameter[GRAFT_PACKED_STACK_NAME];
    (void)snprintf(parameter, sizeof parameter, "%s_qweight", name);
    int status = graft_describe_typed(sink, parameter, 3, codes, quantizer->code_dtype, error);
    if (status == GRAFT_OK) {
        (void)snprintf(parameter, sizeof parameter, "%s_scales", name);
        status = graft_describe_typed(sink, parameter, 3, scales, quantizer->scale_dtype, error);
    }
    if (status == GRAFT_OK && bias) {
        (void)snprintf(parameter, sizeof parameter, "%s_bias", name);
        status = graft_describe_parameter(sink, parameter, 2, size, 0, GRAFT_INIT_NONE, error);
    }
    return status;
}

int graft_parts_quantized_experts_describe(const struct graft_class *self, const struct graft_config *config,
                                           const struct graft_args *args, const struct graft_sink *sink,
                                           struct graft_error *error) {
    const uint32_t features = graft_experts_features(args);
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    int status = kept != NULL ? read_sizes(args, sink->path, &kept->sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_expert_sizes *sizes = &kept->sizes;
    const int64_t gate_up[3] = {sizes->num_experts, 2 * sizes->intermediate_size, sizes->hidden_size};
    const int64_t down[3] = {sizes->num_experts, sizes->hidden_size, sizes->intermediate_size};
    const int32_t bias = (features & GRAFT_EXPERTS_BIASES) != 0;
    kept->part = *(const struct graft_parts_quantized_experts *)self->data;
    status = describe_stack(kept->part.quantizer, sink, "gate_up_proj", gate_up, bias, error);
    if (status == GRAFT_OK) {
        status = describe_stack(kept->part.quantizer, sink, "down_proj", down, bias, error);
    }
    return status == GRAFT_OK && (features & GRAFT_EXPERTS_GATING) == 0
               ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error)
               : status;
}

/* --- Instances --- */

/* Points to what describe_stack described. */
static int bind_stack(const struct graft_build *build, const char *name, const struct kept *kept, int64_t outputs,
                      int64_t inputs, struct graft_packed_stack *stack, struct graft_error *error) {
    const struct graft_quantizer *quantizer = kept->part.quantizer;
    struct graft_packed_rows *rows = &stack->rows;
    rows->loops = kept->part.loops();
    rows->in_features = inputs;
    rows->out_features = outputs;
    rows->row_bytes = graft_quantizer_elements(quantizer, inputs) * quantizer->slots * kept->part.bits / 8;
    rows->block_rows = 1;
    rows->group_size = quantizer->group_size(inputs);
    rows->groups = graft_quantizer_groups(quantizer, inputs);
    rows->bits = kept->part.bits;
    rows->zero = kept->part.zero;
    rows->input_bits = kept->part.input_bits != NULL ? *kept->part.input_bits : 0;
    return graft_packed_stack_bind(build, name, "qweight", stack, error);
}

int graft_parts_quantized_experts_create(const struct graft_class *cls, const struct graft_build *build,
                                         void **instance, struct graft_error *error) {
    const struct kept *kept = build->kept;
    const struct graft_expert_sizes *sizes = &kept->sizes;
    struct experts *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->packed.num_experts = sizes->num_experts;
    self->packed.by_turns = kept->part.by_turns;
    self->packed.swiglu = graft_swiglu_of(build->args);
    int status = bind_stack(build, "gate_up_proj", kept, 2 * sizes->intermediate_size, sizes->hidden_size,
                            &self->packed.gate_up, error);
    if (status == GRAFT_OK) {
        status = bind_stack(build, "down_proj", kept, sizes->hidden_size, sizes->intermediate_size, &self->packed.down,
                            error);
    }
    if (status == GRAFT_OK && (graft_experts_features(build->args) & GRAFT_EXPERTS_GATING) == 0) {
        self->packed.act_fn = graft_build_child(build, "act_fn", &status, error);
    }
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct experts *self = instance;
    return graft_packed_experts_forward(&self->packed, call, args, error);
}

const struct graft_experts graft_parts_quantized_experts_vtable = {
    .struct_size = sizeof graft_parts_quantized_experts_vtable,
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING,
    .forward = forward,
};
