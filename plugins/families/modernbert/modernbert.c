/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ModernBERT (Warner et al. 2024): an encoder with rotary positions, most of whose layers see a window to both sides;
 * norms come first, MLPs have a gate, and hardly anything has a bias.
 */
#include "modernbert.h"

#include <string.h>

#include "graft/describe.h"
#include "graft/family.h"
#include "graft/plugin.h"

/* --- Roots --- */

static int read_root(const struct graft_config *config, struct graft_parts_encoder_sizes *root, int32_t *tied,
                     struct graft_error *error) {
    struct modernbert_config read;
    int status = modernbert_read(config, &read, error);
    *root = (struct graft_parts_encoder_sizes){
        .vocab_size = read.sizes.vocab_size,
        .hidden_size = read.sizes.hidden_size,
        .token_types = 1,
        .decoder_bias = 1,
    };
    *tied = read.sizes.tie_word_embeddings;
    return status;
}

static int masked_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_encoder_sizes root;
    int32_t tied = 0;
    (void)args;
    int status = read_root(config, &root, &tied, error);
    root.logits = root.vocab_size;
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "decoder_bias", &root.decoder_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_parts_encoder_root_declare(self->data, &root, sink, error);
    }
    return status == GRAFT_OK && tied
               ? sink->tie(sink->data, "decoder.weight", "model.embeddings.tok_embeddings.weight", error)
               : status;
}

static int read_pooling(const struct graft_config *config, int32_t *pooling, struct graft_error *error) {
    const char *name = "cls";
    int status = graft_config_string(config, "classifier_pooling", &name, error);
    *pooling = strcmp(name, "mean") == 0 ? GRAFT_POOLING_MEAN : GRAFT_POOLING_CLS;
    return status == GRAFT_OK && *pooling == GRAFT_POOLING_CLS && strcmp(name, "cls") != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "classifier_pooling: expected \"cls\" or \"mean\", got \"%s\"", name)
               : status;
}

static int describe_classifier(const struct graft_class *self, const struct graft_config *config, int32_t head,
                               const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_encoder_sizes root;
    int32_t tied = 0;
    int status = read_root(config, &root, &tied, error);
    if (status == GRAFT_OK) {
        status = graft_parts_read_encoder_head(config, head, &root, error);
    }
    if (status == GRAFT_OK && head == GRAFT_HEAD_SEQUENCES) {
        status = read_pooling(config, &root.pooling, error);
    }
    return status == GRAFT_OK ? graft_parts_encoder_root_declare(self->data, &root, sink, error) : status;
}

static int sequences_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)args;
    return describe_classifier(self, config, GRAFT_HEAD_SEQUENCES, sink, error);
}

static int tokens_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)args;
    return describe_classifier(self, config, GRAFT_HEAD_TOKENS, sink, error);
}

static int answers_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)args;
    return describe_classifier(self, config, GRAFT_HEAD_ANSWERS, sink, error);
}

/* --- What the host is told --- */

static const struct graft_parts_encoder_root masked_lm = {
    .model = "model",
    .model_class = "ModernBertModel",
    .head = "head",
    .head_class = "ModernBertPredictionHead",
    .decoder = "decoder",
};

static const struct graft_parts_encoder_root classifier = {
    .model = "model",
    .model_class = "ModernBertModel",
    .head = "head",
    .head_class = "ModernBertPredictionHead",
    .decoder = "classifier",
};

static const struct graft_parts_fused_attention attention = {.qkv = "Wqkv", .output = "Wo"};

static const struct graft_parts_typed_rotary rotary = {
    .types = {[GRAFT_LAYER_FULL_ATTENTION] = {"full_attention", "global_rope_theta", 160000.0, 1, 0},
              [GRAFT_LAYER_SLIDING_ATTENTION] = {"sliding_attention", "local_rope_theta", 10000.0, 1, 0}},
};

static const struct graft_class classes[] = {
    {.struct_size = sizeof classes[0],
     .name = "ModernBertForMaskedLM",
     .interface_id = GRAFT_INTERFACE_MASKED_LM,
     .describe = masked_lm_describe,
     GRAFT_PARTS_INSTANCE(graft_parts_masked_lm),
     .data = &masked_lm},
    {GRAFT_PARTS_SEQUENCE_CLASSIFIER("ModernBertForSequenceClassification", sequences), .data = &classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("ModernBertForTokenClassification", tokens), .data = &classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("ModernBertForQuestionAnswering", answers), .data = &classifier},
    {GRAFT_PARTS_CLASS("ModernBertModel", GRAFT_INTERFACE_ENCODER_MODEL, modernbert_model)},
    {GRAFT_PARTS_CLASS("ModernBertEmbeddings", GRAFT_INTERFACE_INPUT_EMBEDDINGS, modernbert_embeddings)},
    {GRAFT_PARTS_CLASS("ModernBertEncoderLayer", GRAFT_INTERFACE_ENCODER_LAYER, modernbert_layer)},
    {GRAFT_PARTS_CLASS("ModernBertAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_parts_fused_attention),
     .data = &attention},
    {GRAFT_PARTS_CLASS("ModernBertMLP", GRAFT_INTERFACE_MLP, modernbert_mlp)},
    {GRAFT_PARTS_CLASS("ModernBertPredictionHead", GRAFT_INTERFACE_TRANSFORM, modernbert_head)},
    {GRAFT_PARTS_TYPED_ROTARY_CLASS("ModernBertRotaryEmbedding"), .data = &rotary},
};

static const struct graft_architecture architectures[] = {
    {"ModernBertModel", NULL},
    {"ModernBertForMaskedLM", NULL},
    {"ModernBertForSequenceClassification", NULL},
    {"ModernBertForTokenClassification", NULL},
    {"ModernBertForQuestionAnswering", NULL},
};

/* Published files have a layer_norm_eps, too, which is never read. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50368},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 768},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 1152},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 22},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 8192},
    {.name = "local_attention", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "layer_norm_eps",
     .alias = "norm_eps",
     .kind = GRAFT_FIELD_REAL,
     .real = 1e-5,
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "hidden_act",
     .alias = "hidden_activation",
     .kind = GRAFT_FIELD_STRING,
     .string = "gelu",
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "classifier_activation", .kind = GRAFT_FIELD_STRING, .string = "gelu"},
    {.name = "attention_bias", .kind = GRAFT_FIELD_BOOL, .integer = 0},
    {.name = "mlp_bias", .kind = GRAFT_FIELD_BOOL, .integer = 0},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

static const struct graft_field_rule field_rules[] = {
    /* How the reference computes, and its training. */
    {.name = "deterministic_flash_attn"},
    {.name = "reference_compile"},
    {.name = "repad_logits_with_grad"},
    {.name = "sparse_pred_ignore_index"},
    {.name = "sparse_prediction"},
    /* Of other heads than the model's. */
    {.name = "classifier_activation"},
    {.name = "classifier_bias"},
    {.name = "classifier_pooling"},
    {.name = "decoder_bias"},
    /* Its positions are rotary, and norm_eps is that of its norms. */
    {.name = "layer_norm_eps"},
    {.name = "position_embedding_type"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "modernbert",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    GRAFT_FIELD_RULES(field_rules),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "modernbert",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type modernbert",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
