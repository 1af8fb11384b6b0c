/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoBERTa (Liu et al. 2019): BERT with heads of its own, whose positions begin behind the number of the padding token.
 */
#include "roberta.h"

#include "graft/attention_block.h"
#include "graft/describe.h"
#include "graft/encoder.h"
#include "graft/encoder_layer.h"
#include "graft/encoder_model.h"
#include "graft/family.h"
#include "graft/input_embeddings.h"
#include "graft/plugin.h"
#include "graft/pooler.h"
#include "graft/residual_output.h"
#include "graft/transform.h"

/* --- Positions --- */

/* The row of the position embeddings that padding has; the first position is behind it. */
static int read_padding_idx(const struct graft_config *config, int64_t *padding_idx, int64_t *max_positions,
                            struct graft_error *error) {
    int64_t rows = 0;
    int status = graft_config_need_int(config, "max_position_embeddings", 2, INT32_MAX, &rows, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "pad_token_id", 0, rows - 2, padding_idx, error);
    }
    *max_positions = rows - *padding_idx - 1;
    return status;
}

static int embeddings_describe(const struct graft_class *self, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    int64_t padding_idx = 0;
    int64_t max_positions = 0;
    (void)self;
    (void)args;
    int status = read_padding_idx(config, &padding_idx, &max_positions, error);
    const struct graft_arg item = graft_int_arg("padding_idx", padding_idx);
    const struct graft_args more = graft_args_of(&item, 1);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t padding_idx = 0;
    int64_t max_positions = 0;
    (void)self;
    (void)args;
    int status = read_padding_idx(config, &padding_idx, &max_positions, error);
    const struct graft_arg item = graft_int_arg("max_positions", max_positions);
    const struct graft_args more = graft_args_of(&item, 1);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

/* --- Roots --- */

static int read_root(const struct graft_config *config, struct graft_parts_encoder_sizes *root,
                     struct graft_error *error) {
    struct graft_parts_sizes sizes;
    int64_t padding_idx = 0;
    *root = (struct graft_parts_encoder_sizes){0};
    int status = graft_parts_read_sizes(config, &sizes, error);
    if (status == GRAFT_OK) {
        root->vocab_size = sizes.vocab_size;
        root->hidden_size = sizes.hidden_size;
        status = read_padding_idx(config, &padding_idx, &root->max_positions, error);
    }
    return status == GRAFT_OK
               ? graft_config_need_int(config, "type_vocab_size", 1, GRAFT_PARTS_MAX_SIZE, &root->token_types, error)
               : status;
}

/* The tie of the two biases holds in any case: published checkpoints have only the outer one. */
static int masked_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_encoder_sizes root;
    int32_t tied = 0;
    (void)args;
    int status = read_root(config, &root, error);
    root.logits = root.vocab_size;
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "tie_word_embeddings", &tied, error);
    }
    if (status == GRAFT_OK) {
        status = graft_parts_encoder_root_declare(self->data, &root, sink, error);
    }
    if (status == GRAFT_OK) {
        status = sink->tie(sink->data, "lm_head.decoder.bias", "lm_head.bias", error);
    }
    return status == GRAFT_OK && tied
               ? sink->tie(sink->data, "lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight", error)
               : status;
}

static int describe_classifier(const struct graft_class *self, const struct graft_config *config, int32_t head,
                               const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_encoder_sizes root;
    int status = read_root(config, &root, error);
    root.pooling = head == GRAFT_HEAD_SEQUENCES ? GRAFT_POOLING_CLS : GRAFT_POOLING_NONE;
    if (status == GRAFT_OK) {
        status = graft_parts_read_encoder_head(config, head, &root, error);
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
    .model = "roberta",
    .model_class = "RobertaModel",
    .head = "lm_head",
    .head_class = "RobertaLMHead",
};

static const struct graft_parts_encoder_root classifier = {
    .model = "roberta",
    .model_class = "RobertaModel",
    .head = "classifier",
    .head_class = "RobertaClassificationHead",
};

static const struct graft_parts_encoder_root token_classifier = {
    .model = "roberta",
    .model_class = "RobertaModel",
    .decoder = "classifier",
};

static const struct graft_parts_encoder_root answerer = {
    .model = "roberta",
    .model_class = "RobertaModel",
    .decoder = "qa_outputs",
};

static const struct graft_class classes[] = {
    {.struct_size = sizeof classes[0],
     .name = "RobertaForMaskedLM",
     .interface_id = GRAFT_INTERFACE_MASKED_LM,
     .describe = masked_lm_describe,
     GRAFT_PARTS_INSTANCE(graft_parts_masked_lm),
     .data = &masked_lm},
    {GRAFT_PARTS_SEQUENCE_CLASSIFIER("RobertaForSequenceClassification", sequences), .data = &classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("RobertaForTokenClassification", tokens), .data = &token_classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("RobertaForQuestionAnswering", answers), .data = &answerer},
    {GRAFT_PARTS_CLASS("RobertaLMHead", GRAFT_INTERFACE_HEAD, roberta_lm_head)},
    {GRAFT_PARTS_CLASS("RobertaClassificationHead", GRAFT_INTERFACE_HEAD, roberta_classification_head)},
    {GRAFT_DERIVED_CLASS("RobertaModel", "BertModel", GRAFT_INTERFACE_ENCODER_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("RobertaEmbeddings", "BertEmbeddings", GRAFT_INTERFACE_INPUT_EMBEDDINGS),
     .describe = embeddings_describe},
    {GRAFT_DERIVED_CLASS("RobertaEncoder", "BertEncoder", GRAFT_INTERFACE_ENCODER)},
    {GRAFT_DERIVED_CLASS("RobertaLayer", "BertLayer", GRAFT_INTERFACE_ENCODER_LAYER)},
    {GRAFT_DERIVED_CLASS("RobertaAttention", "BertAttention", GRAFT_INTERFACE_ATTENTION_BLOCK)},
    {GRAFT_DERIVED_CLASS("RobertaSelfAttention", "BertSelfAttention", GRAFT_INTERFACE_SELF_ATTENTION)},
    {GRAFT_DERIVED_CLASS("RobertaSelfOutput", "BertSelfOutput", GRAFT_INTERFACE_RESIDUAL_OUTPUT)},
    {GRAFT_DERIVED_CLASS("RobertaIntermediate", "BertIntermediate", GRAFT_INTERFACE_TRANSFORM)},
    {GRAFT_DERIVED_CLASS("RobertaOutput", "BertOutput", GRAFT_INTERFACE_RESIDUAL_OUTPUT)},
    {GRAFT_DERIVED_CLASS("RobertaPooler", "BertPooler", GRAFT_INTERFACE_POOLER)},
};

static const struct graft_architecture architectures[] = {
    {"RobertaModel", NULL},
    {"RobertaForMaskedLM", NULL},
    {"RobertaForSequenceClassification", NULL},
    {"RobertaForTokenClassification", NULL},
    {"RobertaForQuestionAnswering", NULL},
};

/* BERT's defaults, which its classes have, but for a few; the roots here read these fields as well. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50265},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 768},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "type_vocab_size", .kind = GRAFT_FIELD_INT, .integer = 2},
    {.name = "pad_token_id", .kind = GRAFT_FIELD_INT, .integer = 1},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

static const char *const ignored[] = {"embeddings\\.position_ids$", "embeddings\\.token_type_ids$", NULL};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "roberta",
    .base_model_prefix = "roberta",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    .ignored_tensors = ignored,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "roberta",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type roberta",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
