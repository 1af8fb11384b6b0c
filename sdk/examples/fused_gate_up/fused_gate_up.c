/* SPDX-License-Identifier: Apache-2.0 */
/* An MLP of a decoder with one projection for gate and up: the plugin of docs/plugin-guide.md. The rows of gate_up_proj
 * are those of gate_proj, followed by those of up_proj; joining them copies nothing. Results have the same bits as the
 * original's. */
#include <stdlib.h>
#include <string.h>

#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/mlp.h"
#include "graft/plugin.h"

/* --- Structure --- */

enum { MAX_SIZE = 1 << 20 };

struct sizes {
    int64_t hidden;
    int64_t intermediate;
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0;
    (void)cls;
    if (sizes == NULL) {
        return error->code;
    }
    graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &sizes->hidden, error);
    graft_args_size(args, "intermediate_size", MAX_SIZE, sink->path, &sizes->intermediate, error);
    if (error->code != GRAFT_OK) { /* the sizes are not set if it failed */
        return error->code;
    }
    graft_describe_linear(sink, "gate_up_proj", sizes->hidden, 2 * sizes->intermediate, bias, error);
    graft_describe_linear(sink, "down_proj", sizes->intermediate, sizes->hidden, bias, error);
    graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error);
    return error->code;
}

/* --- Conversions; the second one is skipped in models without biases --- */

static const char *const weight_sources[] = {"gate_proj.weight", "up_proj.weight"};
static const char *const weight_targets[] = {"gate_up_proj.weight"};
static const char *const bias_sources[] = {"gate_proj.bias", "up_proj.bias"};
static const char *const bias_targets[] = {"gate_up_proj.bias"};

static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};

#define JOINING(from, to)                                                                                         \
    {                                                                                                             \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 2, .sources = from, .n_targets = 1,          \
        .targets = to, .n_operations = 1, .operations = join, .operation_stride = sizeof(struct graft_operation), \
    }

static const struct graft_conversion conversions[] = {
    JOINING(weight_sources, weight_targets),
    JOINING(bias_sources, bias_targets),
};

/* --- Instances --- */

struct fused_mlp {
    const struct graft_module *gate_up_proj; /* hidden -> 2 * intermediate */
    const struct graft_module *down_proj;    /* intermediate -> hidden */
    const struct graft_module *act_fn;
    int64_t intermediate;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    (void)cls;
    struct fused_mlp *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->intermediate = sizes->intermediate;
    self->gate_up_proj = graft_build_child(build, "gate_up_proj", error);
    self->down_proj = graft_build_child(build, "down_proj", error);
    self->act_fn = graft_build_child(build, "act_fn", error);
    if (error->code != GRAFT_OK) {
        free(self);
        return error->code;
    }
    *instance = self;
    return GRAFT_OK;
}

/* Splits gate_up [tokens, 2, columns] into gate and up [tokens, columns], because modules take contiguous rows. */
static void split(const float *gate_up, int64_t tokens, int64_t columns, float *gate, float *up) {
    size_t bytes = (size_t)columns * sizeof *gate;
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(gate + t * columns, gate_up + 2 * t * columns, bytes);
        memcpy(up + t * columns, gate_up + (2 * t + 1) * columns, bytes);
    }
}

/* output = down_proj(act_fn(gate) * up) */
static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct fused_mlp *self = instance;
    int64_t tokens = args->tokens;
    int64_t columns = self->intermediate;
    float *gate_up = graft_scratch_floats(call, tokens, 2 * columns, error); /* [tokens, 2, intermediate] */
    float *gate = graft_scratch_floats(call, tokens, columns, error);        /* [tokens, intermediate] */
    float *up = graft_scratch_floats(call, tokens, columns, error);          /* [tokens, intermediate] */
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, gate_up};
    const struct graft_linear_args down_args = {sizeof down_args, 0, tokens, gate, args->output};
    if (gate_up == NULL || gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->gate_up_proj, call, &in_args, error);
    if (status == GRAFT_OK) {
        split(gate_up, tokens, columns, gate, up);
        status = graft_activation_gate(self->act_fn, call, gate, up, tokens, columns, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down_proj, call, &down_args, error) : status;
}

static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = forward};

/* --- Descriptor --- */

static const struct graft_class fused_mlp = {
    .struct_size = sizeof fused_mlp,
    .name = "FusedGateUpMLP",
    .interface_id = GRAFT_INTERFACE_MLP,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = sizeof conversions / sizeof conversions[0],
    .conversion_stride = sizeof conversions[0],
};

/* The interface limits the pattern to MLPs. Only these families are known to have MLPs with gate and up. */
static const char *const model_types[] = {"llama", "mistral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", NULL};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_PATTERN,
    .target = "MLP$",
    .replacement = &fused_mlp,
    .model_types = model_types,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "fused_gate_up",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "An MLP with one projection for gate and up",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
