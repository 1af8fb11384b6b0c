/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT-NeoX (Black et al. 2022): attention and MLP side by side, queries, keys and values of a head together in one
 * projection, rotary positions for a part of each head.
 */
#include "graft/encoder_parts.h"
#include "graft/family.h"
#include "graft/parts.h"
#include "graft/plugin.h"
#include "graft/rope.h"

static const struct graft_parts_causal_lm causal_lm = {
    .model = "gpt_neox",
    .model_class = "GPTNeoXModel",
    .tied_weight = "gpt_neox.embed_in.weight",
};
static const struct graft_parts_encoder_root sequence_classifier = {
    .model = "gpt_neox", .model_class = "GPTNeoXModel", .decoder = "score", .is_decoder = 1};
static const struct graft_parts_encoder_root token_classifier = {
    .model = "gpt_neox", .model_class = "GPTNeoXModel", .decoder = "classifier", .is_decoder = 1};
static const struct graft_parts_encoder_root answerer = {
    .model = "gpt_neox", .model_class = "GPTNeoXModel", .decoder = "qa_outputs", .is_decoder = 1};
static const struct graft_parts_rotary rotary = {.rope_theta = 10000.0, .partial_rotary_factor = 0.25};
static const struct graft_parts_model model = {
    .embeddings = "embed_in",
    .layers = "layers",
    .layer_class = "GPTNeoXLayer",
    .norm = "final_layer_norm",
    .norm_class = "LayerNorm",
    .rotary_class = "GPTNeoXRotaryEmbedding",
    .rotary = &rotary,
};
static const struct graft_parts_layer layer = {
    .attention = "attention",
    .attention_class = "GPTNeoXAttention",
    .attention_norm = "input_layernorm",
    .mlp = "mlp",
    .mlp_class = "GPTNeoXMLP",
    .mlp_norm = "post_attention_layernorm",
    .norm_class = "LayerNorm",
    .parallel = 1,
    .parallel_field = "use_parallel_residual",
};
static const struct graft_parts_fused_attention attention = {.qkv = "query_key_value", .output = "dense", .by_head = 1};
static const struct graft_parts_mlp mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};

static const char *const embed_out[] = {"embed_out"};
static const char *const lm_head[] = {"lm_head"};
static const struct graft_conversion head_conversions[] = {GRAFT_RENAMING(embed_out, lm_head)};

static const struct graft_class classes[] = {
    {GRAFT_PARTS_CLASS("GPTNeoXForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_parts_causal_lm),
     GRAFT_CLASS_CONVERSIONS(head_conversions), .data = &causal_lm},
    {GRAFT_PARTS_SEQUENCE_CLASSIFIER("GPTNeoXForSequenceClassification", graft_parts_decoder_sequences),
     .data = &sequence_classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("GPTNeoXForTokenClassification", graft_parts_decoder_tokens),
     .data = &token_classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("GPTNeoXForQuestionAnswering", graft_parts_decoder_answers), .data = &answerer},
    {GRAFT_PARTS_CLASS("GPTNeoXModel", GRAFT_INTERFACE_BASE_MODEL, graft_parts_model), .data = &model},
    {GRAFT_PARTS_CLASS("GPTNeoXLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer), .data = &layer},
    {GRAFT_PARTS_CLASS("GPTNeoXAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_parts_fused_attention),
     .data = &attention},
    {GRAFT_PARTS_CLASS("GPTNeoXMLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .data = &mlp},
    {GRAFT_PARTS_ROTARY_CLASS("GPTNeoXRotaryEmbedding"), .data = &rotary},
};

static const struct graft_architecture architectures[] = {{"GPTNeoXForCausalLM", NULL},
                                                          {"GPTNeoXModel", NULL},
                                                          {"GPTNeoXForSequenceClassification", NULL},
                                                          {"GPTNeoXForTokenClassification", NULL},
                                                          {"GPTNeoXForQuestionAnswering", NULL}};

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50432},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 6144},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 24576},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 44},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "num_key_value_heads", .alias = "num_attention_heads", .flags = GRAFT_FIELD_RENAMED},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 2048},
    {.name = "partial_rotary_factor", .alias = "rotary_pct"},
    {.name = "rope_theta", .alias = "rotary_emb_base"},
};

/* The causal mask and other numbers that are computed, which older checkpoints hold. */
static const char *const ignored_tensors[] = {"\\.attention\\.(masked_)?bias$", "rotary_emb\\.inv_freq$", NULL};

/* All heads have keys and values of their own, whatever this says. */
static const struct graft_field_rule field_rules[] = {{.name = "num_key_value_heads"}};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gpt_neox",
    .base_model_prefix = "gpt_neox",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    .ignored_tensors = ignored_tensors,
    GRAFT_FIELD_RULES(field_rules),
};

static const char *const required[] = {GRAFT_ROPE_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gpt_neox",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gpt_neox",
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
