/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phi-3 (Abdin et al. 2024): Mistral with one projection for queries, keys and values and one for gate and up; a part
 * of each head may be rotated, with frequencies of their own for sequences beyond the original length (Ding et al.
 * 2024).
 */
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/parts.h"
#include "graft/plugin.h"
#include "graft/rope.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

static const struct graft_parts_rotary rotary = {.rope_theta = 10000.0, .partial_rotary_factor = 1.0};
static const struct graft_parts_fused_attention attention = {.qkv = "qkv_proj", .output = "o_proj"};
static const struct graft_parts_mlp mlp = {.gate_up = "gate_up_proj", .down = "down_proj", .act = "activation_fn"};

/* All layers have the window, and the base is not to look for it in `layer_types`. */
static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t windows[GRAFT_PARTS_MAX_LAYERS];
    int64_t layers = 0;
    int64_t width = 0;
    (void)self;
    (void)args;
    int status = graft_parts_rotary_width(&rotary, config, sink->host, &width, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, &layers, error);
    }
    if (status == GRAFT_OK) {
        status = graft_same_windows(config, layers, windows, error);
    }
    const struct graft_arg items[] = {graft_ints_arg("windows", windows, (int32_t)layers),
                                      graft_int_arg("rotary_width", width)};
    const struct graft_args more = graft_args_of(items, 2);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

/* A cache with keys rotated for a sequence within the original length is of no use beyond it. */
static int causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t original = 0;
    int32_t changes = 0;
    (void)self;
    (void)args;
    int status = sink->base(sink->data, NULL, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "original_max_position_embeddings", 1, INT32_MAX, &original, error);
    }
    if (status == GRAFT_OK) {
        status = graft_parts_rotary_changes(&rotary, config, sink->host, original, &changes, error);
    }
    return status == GRAFT_OK && changes ? graft_describe_number(sink, "renewed_after", original, error) : status;
}

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Phi3ForCausalLM", "MistralForCausalLM", GRAFT_INTERFACE_CAUSAL_LM),
     .describe = causal_lm_describe},
    {GRAFT_DERIVED_CLASS("Phi3ForSequenceClassification", "MistralForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Phi3ForTokenClassification", "MistralForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Phi3Model", "MistralModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("Phi3DecoderLayer", "MistralDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER)},
    {GRAFT_PARTS_CLASS("Phi3Attention", GRAFT_INTERFACE_SELF_ATTENTION, graft_parts_fused_attention),
     .base = "MistralAttention", .data = &attention},
    {GRAFT_PARTS_CLASS("Phi3MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .base = "MistralMLP", .data = &mlp},
    {GRAFT_DERIVED_CLASS("Phi3RMSNorm", "MistralRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_PARTS_ROTARY_CLASS("Phi3RotaryEmbedding"), .base = "MistralRotaryEmbedding", .data = &rotary},
};

static const struct graft_architecture architectures[] = {{"Phi3ForCausalLM", NULL},
                                                          {"Phi3Model", NULL},
                                                          {"Phi3ForSequenceClassification", NULL},
                                                          {"Phi3ForTokenClassification", NULL}};

/* The defaults that are not Mistral's. Null: as many as heads of queries; no window. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 32064},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 3072},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 8192},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 32},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 32},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_NULL},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "original_max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "rms_norm_eps", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
    {.name = "sliding_window", .kind = GRAFT_FIELD_NULL},
};

static const struct graft_field_rule field_rules[] = {
    /* Of rope types with two sets of factors. */
    {.name = "original_max_position_embeddings"},
    /* Of variants that share the model type, as what says that this is none of them. */
    {.name = "full_attn_mod", .values = "[1]"},
    {.name = "interpolate_factor", .values = "[1]"},
    {.name = "lm_head_bias", .values = "[false]"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "phi3",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    GRAFT_FIELD_RULES(field_rules),
};

static const char *const required[] = {GRAFT_ROPE_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "phi3",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type phi3",
    .requires_extensions = required,
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
