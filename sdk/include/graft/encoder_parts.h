/* SPDX-License-Identifier: Apache-2.0 */
/* Classification heads (parts.h has the heads that generate): root classes above a graft.base_model/1, which is an
 * encoder or a decoder, and the attributes that a root has to declare. All functions are [load]. */
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

/* The vectors that a classification head is applied to. */
enum {
    GRAFT_POOLING_NONE = 0,   /* each token */
    GRAFT_POOLING_POOLER = 1, /* the model's pooler_output */
    GRAFT_POOLING_CLS = 2,    /* the sequence's first token */
    GRAFT_POOLING_MEAN = 3,   /* the mean of the sequence's tokens */
    GRAFT_POOLING_LAST = 4,   /* the sequence's last token that is not padding */
    GRAFT_POOLING_LATE = 5    /* the mean over the sequence's tokens after the transform */
};

/* The sizes of a model with a classification head. */
struct graft_parts_encoder_sizes {
    int64_t vocab_size;    /* ids are below it */
    int64_t hidden_size;   /* width of a hidden state */
    int64_t max_positions; /* the most tokens of a sequence; 0: unlimited */
    int64_t token_types;   /* of an encoder: type ids are below this; 0: the model is a decoder */
    int64_t logits;        /* number of logits of a token or sequence: num_labels */
    int32_t pooling;       /* GRAFT_POOLING_... */
    int32_t decoder_bias;  /* 0 or 1 */
    int64_t pad_token_id;  /* with GRAFT_POOLING_LAST: id of the padding token; -1: there is none */
    int32_t classifies;    /* 1: logits are scores of labels */
    int32_t answers;       /* 1: the logits of a token score it as the start and the end of an answer */
    /* If the head has a transform. */
    int32_t transform_bias;      /* 1: the transform has a bias */
    int32_t transform_norm_bias; /* 1: the transform's norm has a bias */
    double transform_eps;        /* of that */
    const char *act;             /* name of the transform's activation in ACT2FN */
};

/* A root of graft.sequence_classifier/1 or graft.token_classifier/1: a model and its head. */
struct graft_parts_encoder_root {
    const char *model;         /* "roberta" */
    const char *model_class;   /* "RobertaModel" */
    const char *decoder;       /* "classifier": a Linear, which gives the logits */
    int32_t learned_positions; /* 1: a sequence has at most max_position_embeddings tokens */
    uint32_t reserved;
    /* A Linear before `decoder`, followed by an activation and optionally a norm; NULL: none of the three. */
    const char *transform;            /* "classifier.dense" */
    const char *transform_act;        /* "act": the activation */
    const char *transform_norm;       /* "norm"; NULL: none */
    const char *transform_norm_class; /* "LayerNorm" */
};

/* Reads how many labels a classifier has: the size of id2label, else num_labels, else 2, as in transformers. */
int graft_parts_read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error);

/* What the head of a root predicts. */
enum {
    GRAFT_HEAD_SEQUENCES = 0, /* SequenceClassification: labels of each sequence */
    GRAFT_HEAD_TOKENS = 1,    /* TokenClassification: labels of each token */
    GRAFT_HEAD_ANSWERS = 2    /* QuestionAnswering: start and end of an answer */
};

/* Reads an encoder's head from config.json into `logits`, `decoder_bias`, `classifies` and `answers`. The class sets
 * the pooling itself. */
int graft_parts_read_encoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error);

/* Reads a decoder's head, including `pooling` and `pad_token_id`: the head for sequences is a Linear without bias,
 * applied to the last token that is not padding. */
int graft_parts_read_decoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error);

/* Declares the attributes that a root has to declare (family.h); also for a base model. */
int graft_parts_encoder_numbers(const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error);

/* Declares these attributes and the children. The class declares ties itself. */
int graft_parts_encoder_root_declare(const struct graft_parts_encoder_root *part,
                                     const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                     struct graft_error *error);
graft_parts_create graft_parts_sequence_classifier_create;
extern const struct graft_sequence_classifier graft_parts_sequence_classifier_vtable;
graft_parts_create graft_parts_token_classifier_create;
extern const struct graft_token_classifier graft_parts_token_classifier_vtable;

/* The three heads of a decoder. The class's `data` is a struct graft_parts_encoder_root; uses struct graft_parts_sizes.
 */
graft_parts_describe graft_parts_decoder_sequences_describe;
graft_parts_describe graft_parts_decoder_tokens_describe;
graft_parts_describe graft_parts_decoder_answers_describe;

/* The first initialisers of a class with a head; `describing` is graft_parts_decoder_sequences or the like. */
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
