/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/encoder/encoder_config.h"
#include "arch/families.h"
#include "arch/role.h"

static const struct graft_encoder_traits traits = {
    .model = "BertModel",
    .child = "bert",
    .embeddings = "BertEmbeddings",
    .encoder = "BertEncoder",
    .layer = "BertLayer",
    .attention = "BertAttention",
    .self_attention = "BertSelfAttention",
    .self_output = "BertSelfOutput",
    .intermediate = "BertIntermediate",
    .output = "BertOutput",
    .pooler = "BertPooler",
    .mlm_head = "BertOnlyMLMHead",
    .prediction_head = "BertLMPredictionHead",
    .prediction_transform = "BertPredictionHeadTransform",
    .defaults =
        {
            .vocab_size = 30522,
            .hidden_size = 768,
            .intermediate_size = 3072,
            .num_hidden_layers = 12,
            .num_attention_heads = 12,
            .max_position_embeddings = 512,
            .type_vocab_size = 2,
            .layer_norm_eps = 1e-12,
            .tie_word_embeddings = 1,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("BertForMaskedLM", GRAFT_INTERFACE_MASKED_LM, graft_masked_lm, graft_parts_masked_lm)},
    {GRAFT_FAMILY_PART("BertForSequenceClassification", GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, graft_sequence_classifier,
                       graft_parts_sequence_classifier)},
    {GRAFT_FAMILY_PART("BertForTokenClassification", GRAFT_INTERFACE_TOKEN_CLASSIFIER, graft_token_classifier,
                       graft_parts_token_classifier)},
    {GRAFT_FAMILY_PART("BertForQuestionAnswering", GRAFT_INTERFACE_TOKEN_CLASSIFIER, graft_answerer,
                       graft_parts_token_classifier)},
    {GRAFT_FAMILY_CLASS("BertModel", GRAFT_INTERFACE_ENCODER_MODEL, graft_encoder_model)},
    {GRAFT_FAMILY_CLASS("BertEmbeddings", GRAFT_INTERFACE_INPUT_EMBEDDINGS, graft_input_embeddings)},
    {GRAFT_FAMILY_CLASS("BertEncoder", GRAFT_INTERFACE_ENCODER, graft_encoder)},
    {GRAFT_FAMILY_CLASS("BertLayer", GRAFT_INTERFACE_ENCODER_LAYER, graft_encoder_layer)},
    {GRAFT_FAMILY_CLASS("BertAttention", GRAFT_INTERFACE_ATTENTION_BLOCK, graft_attention_block)},
    {GRAFT_FAMILY_CLASS("BertPooler", GRAFT_INTERFACE_POOLER, graft_pooler)},
    {GRAFT_FAMILY_CLASS("BertSelfAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_encoder_attention)},
    {GRAFT_FAMILY_CLASS("BertSelfOutput", GRAFT_INTERFACE_RESIDUAL_OUTPUT, graft_residual_output)},
    {GRAFT_FAMILY_CLASS("BertIntermediate", GRAFT_INTERFACE_TRANSFORM, graft_intermediate)},
    {GRAFT_FAMILY_CLASS("BertOutput", GRAFT_INTERFACE_RESIDUAL_OUTPUT, graft_residual_output)},
    {GRAFT_FAMILY_CLASS("BertOnlyMLMHead", GRAFT_INTERFACE_HEAD, graft_mlm_head)},
    {GRAFT_FAMILY_CLASS("BertLMPredictionHead", GRAFT_INTERFACE_HEAD, graft_prediction_head)},
    {GRAFT_FAMILY_CLASS("BertPredictionHeadTransform", GRAFT_INTERFACE_TRANSFORM, graft_prediction_transform)},
};

/* BertForPreTraining as transformers' AutoModelForMaskedLM has it: without the head that tells whether one sentence
 * follows another. */
static const struct graft_architecture architectures[] = {
    {"BertModel", NULL},
    {"BertForMaskedLM", NULL},
    {"BertForPreTraining", "BertForMaskedLM"},
    {"BertForSequenceClassification", NULL},
    {"BertForTokenClassification", NULL},
    {"BertForQuestionAnswering", NULL},
};

static const struct graft_field_rule field_rules[] = {
    /* Of Google's first checkpoints, whose pooler was to be another one; and what older files have. */
    {.name = "directionality"},       {.name = "pooler_fc_size"},       {.name = "pooler_num_attention_heads"},
    {.name = "pooler_num_fc_layers"}, {.name = "pooler_size_per_head"}, {.name = "pooler_type"},
};

const struct graft_family graft_family_bert = {
    GRAFT_FAMILY("bert", "bert"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
