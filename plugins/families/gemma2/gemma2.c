/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gemma 2 (Riviere et al. 2024): Llama with norms before and behind attention and MLP, which multiply by 1 + weight;
 * with bounds on scores and logits, embeddings that are scaled, and a window in every second layer.
 */
#include <math.h>
#include <stdlib.h>

#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/embedding.h"
#include "graft/family.h"
#include "graft/kernels.h"
#include "graft/layer_types.h"
#include "graft/mlp.h"
#include "graft/plugin.h"
#include "graft/rotary.h"

/* --- Norm --- */

static int norm_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg item = graft_real_arg("offset", 1.0);
    const struct graft_args more = graft_args_of(&item, 1);
    (void)self;
    (void)config;
    (void)args;
    return sink->base(sink->data, &more, error);
}

/* --- Embedding --- */

struct embedding {
    const struct graft_weight *weight; /* [num_embeddings, embedding_dim] */
    float scale;
    float scale_bf16;
};

/* The nearest number with eight binary digits. */
static float round_to_bf16(double x) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return (float)ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

static int embedding_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    struct embedding *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->weight = graft_build_weight(build, "weight", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    self->scale = (float)sqrt((double)self->weight->columns);
    self->scale_bf16 = round_to_bf16(sqrt((double)self->weight->columns));
    *instance = self;
    return GRAFT_OK;
}

/* The scale is of the type that the model computes in: it was trained with a rounded one. */
static float scale_for(const struct embedding *self, const struct graft_call *call) {
    int32_t is_bf16 = graft_weight_block(self->weight, 0)->dtype == GRAFT_DTYPE_BF16;
    return call->precision == GRAFT_PRECISION_BFLOAT16 || (call->precision == GRAFT_PRECISION_AUTO && is_bf16)
               ? self->scale_bf16
               : self->scale;
}

static int embedding_forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                             struct graft_error *error) {
    const struct embedding *self = instance;
    float scale = scale_for(self, call);
    int status = call->kernels->embedding(call, self->weight, args->ids, args->tokens, args->output, error);
    for (int64_t i = 0; i < args->tokens * self->weight->columns && status == GRAFT_OK; i++) {
        args->output[i] *= scale;
    }
    return status;
}

static const struct graft_embedding embedding_vtable = {.struct_size = sizeof embedding_vtable,
                                                        .forward = embedding_forward};

/* --- Layer --- */

struct layer {
    const struct graft_module *self_attn;
    const struct graft_module *mlp;
    const struct graft_module *input_layernorm;
    const struct graft_module *post_attention_layernorm;
    const struct graft_module *pre_feedforward_layernorm;
    const struct graft_module *post_feedforward_layernorm;
    int64_t hidden_size;
    uint32_t attention_features;
};

/* Llama's, and two norms more. */
static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const char *const norms[] = {"pre_feedforward_layernorm", "post_feedforward_layernorm"};
    int status = sink->base(sink->data, NULL, error);
    (void)self;
    (void)config;
    for (size_t i = 0; i < sizeof norms / sizeof norms[0] && status == GRAFT_OK; i++) {
        status = graft_describe_given(sink, norms[i], "Gemma2RMSNorm", GRAFT_INTERFACE_NORM, args, error);
    }
    return status;
}

static int layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct layer *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->attention_features = graft_self_attention_features(build->args);
    self->self_attn = graft_build_child(build, "self_attn", &status, error);
    self->mlp = graft_build_child(build, "mlp", &status, error);
    self->input_layernorm = graft_build_child(build, "input_layernorm", &status, error);
    self->post_attention_layernorm = graft_build_child(build, "post_attention_layernorm", &status, error);
    self->pre_feedforward_layernorm = graft_build_child(build, "pre_feedforward_layernorm", &status, error);
    self->post_feedforward_layernorm = graft_build_child(build, "post_feedforward_layernorm", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* output = norm(hidden_states + residual), `residual` may be NULL; all are [tokens, hidden_size]. */
static int run_norm(const struct graft_module *norm, const struct graft_call *call, int64_t tokens,
                    float *hidden_states, const float *residual, float *output, struct graft_error *error) {
    const struct graft_norm_args args = {sizeof args, 0, tokens, hidden_states, residual, output};
    return graft_norm_forward(norm, call, &args, error);
}

static int layer_forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    const struct layer *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden = args->hidden_states;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, output, normed};
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .required_features = self->attention_features,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = output,
    };
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = run_norm(self->input_layernorm, call, tokens, hidden, NULL, normed, error);
    if (status == GRAFT_OK) {
        status = graft_self_attention_forward(self->self_attn, call, &attention_args, error);
    }
    if (status == GRAFT_OK) {
        status = run_norm(self->post_attention_layernorm, call, tokens, output, NULL, normed, error);
    }
    if (status == GRAFT_OK) { /* which adds what attention gave to hidden before it norms it */
        status = run_norm(self->pre_feedforward_layernorm, call, tokens, hidden, normed, output, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    if (status == GRAFT_OK) {
        status = run_norm(self->post_feedforward_layernorm, call, tokens, normed, NULL, output, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, hidden, output, tokens * self->hidden_size, error) : status;
}

static const struct graft_decoder_layer layer_vtable = {.struct_size = sizeof layer_vtable, .forward = layer_forward};

/* --- Model and head: Llama's, given what config.json has under fields that Llama does not know --- */

enum { MAX_LAYERS = 4096 };

/* windows [MAX_LAYERS], of which `layers` are used. */
static int read_windows(const struct graft_config *config, int64_t *windows, int64_t *layers,
                        struct graft_error *error) {
    int64_t sliding_window = 0;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, MAX_LAYERS, layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "sliding_window", 1, INT32_MAX, &sliding_window, error);
    }
    for (int64_t i = 0; i < *layers && status == GRAFT_OK; i++) {
        windows[i] = i % 2 == 0 ? sliding_window : 0;
    }
    return status == GRAFT_OK ? graft_layer_windows(config, *layers, sliding_window, windows, error) : status;
}

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t windows[MAX_LAYERS];
    int64_t layers = 0;
    double scalar = 0.0;
    double softcap = 0.0; /* null in config.json: none */
    int32_t both_ways = 0;
    (void)self;
    (void)args;
    int status = read_windows(config, windows, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "query_pre_attn_scalar", "a number", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "query_pre_attn_scalar", 0.0, &scalar, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "attn_logit_softcapping", 0.0, &softcap, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "use_bidirectional_attention", &both_ways, error);
    }
    if (status == GRAFT_OK && both_ways) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "use_bidirectional_attention: true is not supported");
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg items[] = {
        graft_ints_arg("windows", windows, (int32_t)layers),
        graft_real_arg("scaling", 1.0 / sqrt(scalar)),
        graft_real_arg("softcap", softcap),
    };
    const struct graft_args more = graft_args_of(items, 3);
    return sink->base(sink->data, &more, error);
}

static int causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    double softcap = 0.0; /* null in config.json: none */
    (void)self;
    (void)args;
    int status = graft_config_real(config, "final_logit_softcapping", 0.0, &softcap, error);
    const struct graft_arg item = graft_real_arg("softcap", softcap);
    const struct graft_args more = graft_args_of(&item, 1);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

/* --- What the host is told --- */

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Gemma2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM),
     .describe = causal_lm_describe},
    {GRAFT_DERIVED_CLASS("Gemma2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("Gemma2TextScaledWordEmbedding", "Embedding", GRAFT_INTERFACE_EMBEDDING),
     .create = embedding_create, .destroy = free, .forward = &embedding_vtable},
    {GRAFT_DERIVED_CLASS("Gemma2DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe, .create = layer_create, .destroy = free, .forward = &layer_vtable},
    {GRAFT_DERIVED_CLASS("Gemma2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION)},
    {GRAFT_DERIVED_CLASS("Gemma2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Gemma2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM), .describe = norm_describe},
    {GRAFT_DERIVED_CLASS("Gemma2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture architectures[] = {{"Gemma2ForCausalLM", NULL}, {"Gemma2Model", NULL}};

/* Names and defaults that are not Llama's. `hidden_act` is written but never read. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 256000},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2304},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 9216},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 26},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 8192},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "hidden_act",
     .alias = "hidden_activation",
     .kind = GRAFT_FIELD_STRING,
     .string = "gelu_pytorch_tanh",
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "query_pre_attn_scalar", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "sliding_window", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "attn_logit_softcapping", .kind = GRAFT_FIELD_REAL, .real = 50.0},
    {.name = "final_logit_softcapping", .kind = GRAFT_FIELD_REAL, .real = 30.0},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gemma2",
    .base_model_prefix = "model",
    .architectures = architectures,
    .n_architectures = sizeof architectures / sizeof architectures[0],
    .architecture_stride = sizeof architectures[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .field_stride = sizeof fields[0],
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gemma2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gemma2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
