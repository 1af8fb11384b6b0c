/* SPDX-License-Identifier: Apache-2.0 */
/* Moves Qwen3's norm after attention into the MLP: two classes that only work together. The MLP owns the norm's weight
 * and applies the norm to its input; the decoder layer has no such norm. Results have the same bits as the
 * original's. */
#include <stdlib.h>

#include "graft/attention.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/plugin.h"

enum { MAX_SIZE = 1 << 20 };

/* --- The MLP: a norm, then the original --- */

struct norm_mlp {
    const struct graft_module *mlp;         /* the original, with its projections */
    const struct graft_weight *norm_weight; /* [hidden_size] */
    float eps;
};

/* Describes only the norm's weight: the original, which is built at the same path, describes its projections. */
static int mlp_describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                        const struct graft_sink *sink, struct graft_error *error) {
    double *eps = sink->keep(sink->data, sizeof *eps, error); /* for `create` */
    int64_t hidden_size = 0;
    (void)cls;
    if (eps == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *eps = 1e-6;
    graft_config_real(config, "rms_norm_eps", 0.0, eps, error);
    graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &hidden_size, error);
    graft_describe_vector(sink, "norm_weight", hidden_size, error);
    return error->code;
}

static int mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                      struct graft_error *error) {
    const double *eps = build->kept;
    (void)cls;
    const struct graft_weight *norm_weight = graft_build_weight(build, "norm_weight", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct norm_mlp *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct norm_mlp){build->super, norm_weight, (float)*eps};
    *instance = self;
    return GRAFT_OK;
}

/* output = mlp(norm(hidden_states)) */
static int mlp_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    const struct norm_mlp *self = instance;
    int64_t hidden = self->norm_weight->rows;
    float *normed = graft_scratch_floats(call, args->tokens, hidden, error); /* [tokens, hidden] */
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = call->kernels->rms_norm(call, self->norm_weight, 0.0f, self->eps, args->hidden_states, hidden,
                                         args->tokens, hidden, normed, hidden, error);
    struct graft_mlp_args normed_args;
    graft_struct_copy(&normed_args, sizeof normed_args, args);
    normed_args.hidden_states = normed;
    return status == GRAFT_OK ? graft_mlp_forward(self->mlp, call, &normed_args, error) : status;
}

static const struct graft_mlp mlp_vtable = {.struct_size = sizeof mlp_vtable, .forward = mlp_forward};

static const struct graft_class norm_mlp = {
    .struct_size = sizeof norm_mlp,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "FusedNormMLP",
    .interface_id = GRAFT_INTERFACE_MLP,
    .describe = mlp_describe,
    .create = mlp_create,
    .destroy = free,
    .forward = &mlp_vtable,
};

/* --- The layer: like the original, without one norm --- */

/* Sizes of a layer's attention. Fields that config.json lacks have the defaults of transformers' Qwen3Config. */
struct sizes {
    int64_t hidden_size;
    int64_t intermediate_size;
    int64_t num_attention_heads;
    int64_t num_key_value_heads;
    int64_t head_dim;
    int32_t attention_bias;
};

static int read_sizes(const struct graft_config *config, struct sizes *sizes, struct graft_error *error) {
    *sizes = (struct sizes){4096, 22016, 32, 32, 128, 0};
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {
        {"hidden_size", &sizes->hidden_size},
        {"intermediate_size", &sizes->intermediate_size},
        {"num_attention_heads", &sizes->num_attention_heads},
        {"num_key_value_heads", &sizes->num_key_value_heads},
        {"head_dim", &sizes->head_dim},
    };
    graft_config_bool(config, "attention_bias", &sizes->attention_bias, error);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        graft_config_int(config, fields[i].name, 1, MAX_SIZE, fields[i].value, error);
    }
    return error->code;
}

static int layer_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    int64_t layer = graft_args_int(args, "layer_idx", 0);
    (void)cls;
    if (sizes == NULL || read_sizes(config, sizes, error) != GRAFT_OK) {
        return error->code;
    }
    const struct graft_arg attention_args[] = {graft_int_arg("layer_idx", layer),
                                               graft_int_arg("hidden_size", sizes->hidden_size),
                                               graft_int_arg("num_attention_heads", sizes->num_attention_heads),
                                               graft_int_arg("num_key_value_heads", sizes->num_key_value_heads),
                                               graft_int_arg("head_dim", sizes->head_dim),
                                               graft_int_arg("qkv_bias", sizes->attention_bias),
                                               graft_int_arg("o_proj_bias", sizes->attention_bias)};
    const struct graft_arg mlp_args[] = {
        graft_int_arg("layer_idx", layer), graft_int_arg("hidden_size", sizes->hidden_size),
        graft_int_arg("intermediate_size", sizes->intermediate_size), graft_int_arg("mlp_bias", 0)};
    const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", sizes->hidden_size)};
    graft_describe_child(sink, "self_attn", "Qwen3Attention", GRAFT_INTERFACE_SELF_ATTENTION, attention_args, 7, error);
    graft_describe_child(sink, "mlp", "Qwen3MLP", GRAFT_INTERFACE_MLP, mlp_args, 4, error);
    graft_describe_child(sink, "input_layernorm", "Qwen3RMSNorm", GRAFT_INTERFACE_NORM, norm_args, 1, error);
    return error->code;
}

/* A parameter's name may lead into a child: the layer declares where checkpoints have the MLP's norm_weight, because
 * that is next to the MLP and not below it. */
static const char *const norm_source[] = {"post_attention_layernorm.weight"};
static const char *const norm_target[] = {"mlp.norm_weight"};
static const struct graft_conversion conversions[] = {GRAFT_RENAMING(norm_source, norm_target)};

struct layer {
    const struct graft_module *self_attn;
    const struct graft_module *mlp;
    const struct graft_module *input_layernorm;
    int64_t hidden_size;
};

static int layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    (void)cls;
    const struct graft_module *self_attn = graft_build_child(build, "self_attn", error);
    const struct graft_module *mlp = graft_build_child(build, "mlp", error);
    const struct graft_module *input_layernorm = graft_build_child(build, "input_layernorm", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct layer *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct layer){self_attn, mlp, input_layernorm, sizes->hidden_size};
    *instance = self;
    return GRAFT_OK;
}

/* hidden_states += attention(norm(hidden_states)); hidden_states += mlp(hidden_states), which applies its own norm */
static int layer_forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    const struct layer *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t count = tokens * self->hidden_size;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden] */
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, args->hidden_states, NULL, normed};
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = output,
    };
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, args->hidden_states, output};
    int status = graft_norm_forward(self->input_layernorm, call, &norm_args, error);
    if (status == GRAFT_OK) {
        status = graft_self_attention_forward(self->self_attn, call, &attention_args, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->add(call, args->hidden_states, output, count, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->add(call, args->hidden_states, output, count, error);
    }
    return status;
}

static const struct graft_decoder_layer layer_vtable = {.struct_size = sizeof layer_vtable, .forward = layer_forward};

static const struct graft_class decoder_layer = {
    .struct_size = sizeof decoder_layer,
    .name = "FusedQwen3DecoderLayerNoNorm",
    .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
    .describe = layer_describe,
    .create = layer_create,
    .destroy = free,
    .forward = &layer_vtable,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};

/* --- Descriptor: both classes or none --- */

static const struct graft_replacement replacements[] = {
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "Qwen3MLP",
     .replacement = &norm_mlp,
     .module_path = "\\.layers\\.\\d+\\.mlp$",
     .group = "norm_mlp"},
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "Qwen3DecoderLayer",
     .replacement = &decoder_layer,
     .group = "norm_mlp"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "fused_norm_mlp",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Qwen3 with the norm after attention inside the MLP",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
