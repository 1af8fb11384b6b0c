/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of encoders, as parts.h has those of decoders: the roots that stand above a graft.encoder_model/1, and what
 * they owe the host. All functions are [load].
 */
#ifndef GRAFT_ENCODER_PARTS_H
#define GRAFT_ENCODER_PARTS_H

#include "class.h"
#include "config.h"
#include "masked_lm.h"
#include "parts.h"
#include "sequence_classifier.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a classifier's head sees of a sequence. */
enum {
    GRAFT_POOLING_NONE = 0,   /* of a masked LM: its tokens, one by one */
    GRAFT_POOLING_POOLER = 1, /* the model's pooler_output */
    GRAFT_POOLING_CLS = 2,    /* its first token */
    GRAFT_POOLING_MEAN = 3    /* the mean of its tokens */
};

/* The numbers of an encoder with a head. */
struct graft_parts_encoder_sizes {
    int64_t vocab_size;    /* ids are below it */
    int64_t hidden_size;   /* numbers in a hidden state */
    int64_t max_positions; /* how many tokens a sequence can have; 0: no end */
    int64_t token_types;   /* type ids are below it */
    int64_t logits;        /* numbers of a token, or of a sequence: vocab_size, num_labels */
    int32_t pooling;       /* GRAFT_POOLING_... */
    int32_t decoder_bias;  /* 0 or 1 */
};

/* graft.masked_lm/1, or graft.sequence_classifier/1: a model, and what makes logits of its hidden states. A masked LM's
 * head only sees the tokens whose logits are wanted. */
struct graft_parts_encoder_root {
    const char *model;       /* "roberta" */
    const char *model_class; /* "RobertaModel" */
    const char *head;        /* "lm_head"; NULL: there is only the decoder */
    const char *head_class;  /* "RobertaLMHead", a graft.head/1; with a decoder behind it a graft.transform/1 */
    const char *decoder;     /* "classifier": a Linear, which gives the logits; NULL: the head does */
};

/* How many labels a classifier has: as many as id2label, else num_labels, else 2, as in transformers. */
int graft_parts_read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error);

/* Describes what a root owes the host (family.h); of a base model as well. */
int graft_parts_encoder_numbers(const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error);

/* Describes these and the children. Ties are the class's own. */
int graft_parts_encoder_root_declare(const struct graft_parts_encoder_root *part,
                                     const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                     struct graft_error *error);
graft_parts_create graft_parts_masked_lm_create;
extern const struct graft_masked_lm graft_parts_masked_lm_vtable;
graft_parts_create graft_parts_sequence_classifier_create;
extern const struct graft_sequence_classifier graft_parts_sequence_classifier_vtable;

GRAFT_ASSERT_SIZE(struct graft_parts_encoder_sizes, 48);
GRAFT_ASSERT_SIZE(struct graft_parts_encoder_root, 40);

#ifdef __cplusplus
}
#endif

#endif
