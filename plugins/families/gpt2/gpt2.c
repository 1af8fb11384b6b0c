/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT-2 (Radford et al. 2019): learned positions, LayerNorms with biases before attention and MLP, one projection for
 * queries, keys and values, an MLP without a gate. Checkpoints hold projections as [in, out].
 */
#include <math.h>
#include <stdlib.h>

#include "../parts/parts.h"
#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/plugin.h"

/* --- Attention --- */

static const struct parts_projection_names projections = {.qkv = "c_attn", .output = "c_proj"};

struct attention {
    struct parts_projections projections;
    int32_t layer;
    float scaling;
};

static int read_scaling(const struct graft_config *config, const struct graft_args *args, float *scaling,
                        struct graft_error *error) {
    int32_t by_width = 1;
    int32_t by_layer = 0;
    int status = graft_config_bool(config, "scale_attn_weights", &by_width, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "scale_attn_by_inverse_layer_idx", &by_layer, error);
    }
    double scale = by_width ? 1.0 / sqrt((double)graft_args_int(args, "head_dim", 1)) : 1.0;
    *scaling = (float)(by_layer ? scale / (double)(graft_args_int(args, "layer_idx", 0) + 1) : scale);
    return status;
}

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    float *scaling = sink->keep(sink->data, sizeof *scaling, error);
    (void)self;
    int status = scaling != NULL ? read_scaling(config, args, scaling, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? parts_projections_describe(&projections, args, sink, error) : status;
}

static int attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const float *scaling = build->kept;
    struct attention *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->layer = (int32_t)graft_args_int(build->args, "layer_idx", 0);
    self->scaling = *scaling;
    int status = parts_projections_find(&projections, build, &self->projections, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int attention_forward(void *instance, const struct graft_call *call,
                             const struct graft_self_attention_args *args, struct graft_error *error) {
    const struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t width = self->projections.heads * self->projections.head_dim;
    float *qkv = graft_scratch_floats(call, tokens, 3 * width, error); /* [tokens, 3, heads, head_dim] */
    float *context = graft_scratch_floats(call, tokens, width, error); /* [tokens, heads, head_dim] */
    if (qkv == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, qkv};
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, context, args->output};
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = self->projections.heads,
        .kv_heads = self->projections.heads,
        .head_dim = self->projections.head_dim,
        .scaling = self->scaling,
        .q = qkv,
        .q_stride = 3 * width,
        .k = qkv + width,
        .k_stride = 3 * width,
        .v = qkv + 2 * width,
        .v_stride = 3 * width,
        .output = context,
        .output_stride = width,
    };
    int status = graft_linear_forward(self->projections.qkv, call, &in_args, error);
    if (status == GRAFT_OK) {
        status = call->kernels->attention(call, &attention_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->projections.output, call, &out_args, error) : status;
}

static const struct graft_self_attention attention_vtable = {.struct_size = sizeof attention_vtable,
                                                             .forward = attention_forward};

/* --- What the host is told --- */

/* The projections are Linears here, [out, in]. Who replaces a class below gets them like that, too. */
static const struct graft_operation transpose[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1}};

#define TRANSPOSING(name)                                                                                    \
    {                                                                                                        \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = name, .n_targets = 1,     \
        .targets = name, .n_operations = 1, .operations = transpose, .operation_stride = sizeof transpose[0] \
    }

static const char *const c_attn[] = {"c_attn.weight"};
static const char *const c_fc[] = {"c_fc.weight"};
static const char *const c_proj[] = {"c_proj.weight"};
static const struct graft_conversion attention_conversions[] = {TRANSPOSING(c_attn), TRANSPOSING(c_proj)};
static const struct graft_conversion mlp_conversions[] = {TRANSPOSING(c_fc), TRANSPOSING(c_proj)};

static const struct parts_causal_lm causal_lm = {
    .model = "transformer",
    .model_class = "GPT2Model",
    .tied_weight = "transformer.wte.weight",
    .learned_positions = 1,
};
static const struct parts_model model = {
    .embeddings = "wte",
    .position_embeddings = "wpe",
    .layers = "h",
    .layer_class = "GPT2Block",
    .norm = "ln_f",
};
static const struct parts_layer block = {
    .attention_norm = "ln_1",
    .attention = "attn",
    .attention_class = "GPT2Attention",
    .mlp_norm = "ln_2",
    .mlp = "mlp",
    .mlp_class = "GPT2MLP",
};
static const struct parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};

static const struct graft_class classes[] = {
    {PARTS_CLASS("GPT2LMHeadModel", GRAFT_INTERFACE_CAUSAL_LM, parts_causal_lm), .data = &causal_lm},
    {PARTS_CLASS("GPT2Model", GRAFT_INTERFACE_BASE_MODEL, parts_model), .data = &model},
    {PARTS_CLASS("GPT2Block", GRAFT_INTERFACE_DECODER_LAYER, parts_layer), .data = &block},
    {PARTS_CLASS("GPT2Attention", GRAFT_INTERFACE_SELF_ATTENTION, attention), .conversions = attention_conversions,
     .n_conversions = 2, .conversion_stride = sizeof attention_conversions[0]},
    {PARTS_CLASS("GPT2MLP", GRAFT_INTERFACE_MLP, parts_mlp), .conversions = mlp_conversions, .n_conversions = 2,
     .conversion_stride = sizeof mlp_conversions[0], .data = &mlp},
};

static const struct graft_architecture architectures[] = {{"GPT2LMHeadModel", NULL}, {"GPT2Model", NULL}};

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50257},
    {.name = "hidden_size", .alias = "n_embd", .kind = GRAFT_FIELD_INT, .integer = 768},
    {.name = "num_hidden_layers", .alias = "n_layer", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "num_attention_heads", .alias = "n_head", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "max_position_embeddings", .alias = "n_positions", .kind = GRAFT_FIELD_INT, .integer = 1024},
    {.name = "intermediate_size", .alias = "n_inner"},
    {.name = "layer_norm_eps", .alias = "layer_norm_epsilon"},
    {.name = "hidden_act", .alias = "activation_function", .kind = GRAFT_FIELD_STRING, .string = "gelu_new"},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

/* The causal mask, which older checkpoints hold. */
static const char *const ignored_tensors[] = {"(^|\\.)h\\.[0-9]+\\.attn\\.(masked_)?bias$", NULL};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gpt2",
    .base_model_prefix = "transformer",
    .architectures = architectures,
    .n_architectures = sizeof architectures / sizeof architectures[0],
    .architecture_stride = sizeof architectures[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .field_stride = sizeof fields[0],
    .ignored_tensors = ignored_tensors,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gpt2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gpt2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
