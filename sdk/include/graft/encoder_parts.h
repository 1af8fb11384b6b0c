/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads that classify, as parts.h has those that generate: the roots above a graft.base_model/1, an encoder or a
 * decoder, and what they owe the host. All functions are [load].
 */
#ifndef GRAFT_ENCODER_PARTS_H
#define GRAFT_ENCODER_PARTS_H

#include "class.h"
#include "config.h"
#include "parts.h"
#include "sequence_classifier.h"
#include "token_classifier.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a classifier's head sees of a sequence. */
enum {
    GRAFT_POOLING_NONE = 0,   /* its tokens, one by one */
    GRAFT_POOLING_POOLER = 1, /* the model's pooler_output */
    GRAFT_POOLING_CLS = 2,    /* its first token */
    GRAFT_POOLING_MEAN = 3,   /* the mean of its tokens */
    GRAFT_POOLING_LAST = 4,   /* its last token that is not padding */
    GRAFT_POOLING_LATE = 5    /* the mean of what the transform makes of its tokens */
};

/* The numbers of a model with such a head. */
struct graft_parts_encoder_sizes {
    int64_t vocab_size;    /* ids are below it */
    int64_t hidden_size;   /* numbers in a hidden state */
    int64_t max_positions; /* how many tokens a sequence can have; 0: no end */
    int64_t token_types;   /* of an encoder: type ids are below it; 0: the model is a decoder */
    int64_t logits;        /* numbers of a token, or of a sequence: num_labels */
    int32_t pooling;       /* GRAFT_POOLING_... */
    int32_t decoder_bias;  /* 0 or 1 */
    int64_t pad_token_id;  /* with GRAFT_POOLING_LAST: the id that is padding; -1: none is */
    int32_t classifies;    /* 1: logits are those of labels */
    int32_t answers;       /* 1: the logits of a token say whether an answer begins or ends there */
    /* With a transform. */
    int32_t transform_bias;      /* 1: it has one */
    int32_t transform_norm_bias; /* 1: so has its norm */
    double transform_eps;        /* of that */
    const char *act;             /* its activation, as ACT2FN calls it */
};

/* graft.sequence_classifier/1 or graft.token_classifier/1: a model, and what makes logits of its hidden states. */
struct graft_parts_encoder_root {
    const char *model;         /* "roberta" */
    const char *model_class;   /* "RobertaModel" */
    const char *decoder;       /* "classifier": a Linear, which gives the logits */
    int32_t learned_positions; /* 1: a sequence has no more than max_position_embeddings */
    uint32_t reserved;
    /* A Linear before it, behind which come an activation and perhaps a norm; NULL: none of the three. */
    const char *transform;            /* "classifier.dense" */
    const char *transform_act;        /* "act": the activation */
    const char *transform_norm;       /* "norm"; NULL: none */
    const char *transform_norm_class; /* "LayerNorm" */
};

/* How many labels a classifier has: as many as id2label, else num_labels, else 2, as in transformers. */
int graft_parts_read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error);

/* What the head of a root is for. */
enum {
    GRAFT_HEAD_SEQUENCES = 0, /* SequenceClassification: labels of each sequence */
    GRAFT_HEAD_TOKENS = 1,    /* TokenClassification: labels of each token */
    GRAFT_HEAD_ANSWERS = 2    /* QuestionAnswering: where an answer begins and ends */
};

/* Reads what config.json says of an encoder's head into `logits`, `decoder_bias`, `classifies` and `answers`.
 * Pooling is the class's own. */
int graft_parts_read_encoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error);

/* The same of a decoder's, with `pooling` and `pad_token_id`: the last token that is not padding tells of a sequence,
 * by a Linear without bias. */
int graft_parts_read_decoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error);

/* Describes what a root owes the host (family.h); of a base model as well. */
int graft_parts_encoder_numbers(const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error);

/* Describes these and the children. Ties are the class's own. */
int graft_parts_encoder_root_declare(const struct graft_parts_encoder_root *part,
                                     const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                     struct graft_error *error);
graft_parts_create graft_parts_sequence_classifier_create;
extern const struct graft_sequence_classifier graft_parts_sequence_classifier_vtable;
graft_parts_create graft_parts_token_classifier_create;
extern const struct graft_token_classifier graft_parts_token_classifier_vtable;

/* The three heads of a decoder, whose `data` is a struct graft_parts_encoder_root; with struct graft_parts_sizes. */
graft_parts_describe graft_parts_decoder_sequences_describe;
graft_parts_describe graft_parts_decoder_tokens_describe;
graft_parts_describe graft_parts_decoder_answers_describe;

/* The first initialisers of a class with a head: describing is graft_parts_decoder_sequences, ... */
#define GRAFT_PARTS_SEQUENCE_CLASSIFIER(class_name, describing)                             \
    .struct_size = sizeof(struct graft_class), .name = (class_name),                        \
    .interface_id = GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, .describe = describing##_describe, \
    GRAFT_PARTS_INSTANCE(graft_parts_sequence_classifier)
#define GRAFT_PARTS_TOKEN_CLASSIFIER(class_name, describing)                                                           \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_TOKEN_CLASSIFIER, \
    .describe = describing##_describe, GRAFT_PARTS_INSTANCE(graft_parts_token_classifier)

GRAFT_ASSERT_SIZE(struct graft_parts_encoder_sizes, 88);
GRAFT_ASSERT_SIZE(struct graft_parts_encoder_root, 64);

#ifdef __cplusplus
}
#endif

#endif
