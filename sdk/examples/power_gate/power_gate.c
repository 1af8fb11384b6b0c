/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model type with mathematics of its own: Llama with an MLP whose gate is a power,
 *     output = down_proj(sign(g) * |g|^p * up_proj(x)), where g = gate_proj(x),
 * and p is the field gate_power of config.json.
 */
#include <math.h>

#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/plugin.h"

enum { MAX_SIZE = 1 << 20 };

struct kept { /* by `describe`, for `create` */
    int64_t intermediate;
    double power;
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    int64_t hidden = 0;
    (void)cls;
    if (kept == NULL) {
        return error->code;
    }
    kept->power = 0.5;
    graft_config_real(config, "gate_power", 0.0, &kept->power, error);
    graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &hidden, error);
    graft_args_size(args, "intermediate_size", MAX_SIZE, sink->path, &kept->intermediate, error);
    if (error->code != GRAFT_OK) { /* the sizes are not set then */
        return error->code;
    }
    graft_describe_linear(sink, "gate_proj", hidden, kept->intermediate, 0, error);
    graft_describe_linear(sink, "up_proj", hidden, kept->intermediate, 0, error);
    graft_describe_linear(sink, "down_proj", kept->intermediate, hidden, 0, error);
    return error->code;
}

struct power_gate {
    struct graft_instance instance;
    const struct graft_module *gate_proj; /* hidden -> intermediate */
    const struct graft_module *up_proj;   /* hidden -> intermediate */
    const struct graft_module *down_proj; /* intermediate -> hidden */
    int64_t intermediate;
    float power;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct power_gate *self = graft_instance_new(build, sizeof *self, error);
    const struct kept *kept = build->kept;
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->gate_proj = graft_build_child(build, "gate_proj", error);
    self->up_proj = graft_build_child(build, "up_proj", error);
    self->down_proj = graft_build_child(build, "down_proj", error);
    self->intermediate = kept->intermediate;
    self->power = (float)kept->power;
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct power_gate *self = instance;
    const int64_t tokens = args->tokens;
    float *gate = graft_scratch_floats(call, tokens, self->intermediate, error); /* [tokens, intermediate] */
    float *up = graft_scratch_floats(call, tokens, self->intermediate, error);   /* [tokens, intermediate] */
    if (gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args gate_args = {
        .struct_size = sizeof gate_args, .tokens = tokens, .x = args->hidden_states, .y = gate};
    const struct graft_linear_args up_args = {
        .struct_size = sizeof up_args, .tokens = tokens, .x = args->hidden_states, .y = up};
    const struct graft_linear_args down_args = {
        .struct_size = sizeof down_args, .tokens = tokens, .x = gate, .y = args->output};
    int status = graft_linear_forward(self->gate_proj, call, &gate_args, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->up_proj, call, &up_args, error);
    }
    for (int64_t i = 0; i < tokens * self->intermediate && status == GRAFT_OK; i++) {
        gate[i] = copysignf(powf(fabsf(gate[i]), self->power), gate[i]) * up[i];
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down_proj, call, &down_args, error) : status;
}

static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = forward};

/* All but the MLP are Llama's classes. Their names are this family's, so that other plugins can replace them alone. */
static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("PowerGateForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("PowerGateModel", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("PowerGateDecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER)},
    {GRAFT_DERIVED_CLASS("PowerGateMLP", "LlamaMLP", GRAFT_INTERFACE_MLP), .describe = describe, .create = create,
     .destroy = graft_instance_destroy, .forward = &vtable},
};
static const struct graft_architecture architectures[] = {{"PowerGateForCausalLM", NULL}, {"PowerGateModel", NULL}};
static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "power_gate",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
};
static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "power_gate",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type power_gate",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
