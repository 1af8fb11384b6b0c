/* SPDX-License-Identifier: Apache-2.0 */
/* Runs models that read a whole text and return hidden states, logits, or one vector per text: encoders (BERT),
 * decoders without a head, and models whose head classifies. Models that generate text can return hidden states and
 * vectors.
 *
 *     graft_model_load(model, &error);
 *     graft_model_embedding(model, &embedding, &error);       // how long a vector is
 *     graft_model_embed(model, prompts, n, vectors, &error);  // [n, embedding.size]
 *
 * Each call runs its texts as one ragged batch, without padding. Memory grows with the batch, so split many texts into
 * several calls. */
#ifndef GRAFT_HOST_ENCODE_H
#define GRAFT_HOST_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

/* The task of a model, given by the interface of its class. */
enum {
    GRAFT_TASK_NONE = 0,                    /* none of these: it cannot be loaded */
    GRAFT_TASK_CAUSAL_LM = 1,               /* continues text: graft_model_generate */
    GRAFT_TASK_FEATURES = 2,                /* outputs hidden states only: BertModel, LlamaModel */
    GRAFT_TASK_MASKED_LM = 3,               /* logits of tokens: BertForMaskedLM */
    GRAFT_TASK_SEQUENCE_CLASSIFICATION = 4, /* logits of texts: BertForSequenceClassification */
    GRAFT_TASK_TOKEN_CLASSIFICATION = 5,    /* logits of labels for each token: BertForTokenClassification */
    GRAFT_TASK_QUESTION_ANSWERING = 6       /* start and end of an answer: BertForQuestionAnswering */
};

/* How scores are computed from the logits of a classifier, under transformers' names (`problem_type`). */
enum {
    GRAFT_PROBLEM_SINGLE_LABEL = 0, /* softmax: exactly one label applies */
    GRAFT_PROBLEM_MULTI_LABEL = 1,  /* sigmoid: labels are independent */
    GRAFT_PROBLEM_REGRESSION = 2    /* logits are the scores */
};

/* [any] The model's task, known once it is open. */
int32_t graft_model_task(const struct graft_model *model);

/* Zeros and NULL if the model outputs no hidden states. Strings and labels belong to the model. */
struct graft_encoder_info {
    uint32_t struct_size;
    int32_t problem; /* GRAFT_PROBLEM_... of a classifier; for token classifiers always GRAFT_PROBLEM_SINGLE_LABEL */
    int64_t hidden_size;       /* width of a hidden state */
    int64_t max_tokens;        /* the most tokens of a text */
    int64_t token_types;       /* type ids are below this (type_vocab_size) */
    int64_t n_labels;          /* number of labels of a classifier, else 0 */
    const char *const *labels; /* [n_labels]: id2label, or LABEL_0, LABEL_1, ...; for answers "start" and "end" */
    int32_t has_pooler;        /* whether there is a pooler_output */
    uint32_t reserved;
};

/* [any] Fills in `info`, whose struct_size is set. */
void graft_model_encoder_info(const struct graft_model *model, struct graft_encoder_info *info);

/* One text. */
struct graft_encoder_prompt {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids;            /* [count] */
    const int32_t *token_type_ids; /* [count]; NULL: zeros */
    size_t count;                  /* number of tokens, including special ones */
};

#define GRAFT_ENCODER_PROMPT_SIZE_1_0 GRAFT_END_OF(struct graft_encoder_prompt, count)

/* Where results are written: the caller's memory, or NULL for results that are not wanted. */
struct graft_encoder_outputs {
    uint32_t struct_size;
    uint32_t reserved;
    float *last_hidden_state; /* [tokens of all texts, hidden_size], one text after another */
    float *pooler_output;     /* [n, hidden_size]; only for GRAFT_TASK_FEATURES with a pooler */
    /* Masked LM: [n_rows, vocab_size]; text classifier: [n, n_labels]; token classifier, and answers: [tokens,
     * n_labels]; must be NULL for features and for models that generate. */
    float *logits;
    const int32_t *rows; /* masked LM: the tokens, counted over all texts and ascending, whose logits are wanted */
    int64_t n_rows;
};

#define GRAFT_ENCODER_OUTPUTS_SIZE_1_0 GRAFT_END_OF(struct graft_encoder_outputs, n_rows)

/* [any, one thread per model] Runs `n` texts. An empty or overlong text, ids out of range, and an output that the model
 * does not have are GRAFT_ERROR_USAGE. */
int graft_model_encode(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                       const struct graft_encoder_outputs *outputs, struct graft_error *error);

/* How a model directory turns a text into one vector: modules.json and the files that it names, as
 * sentence-transformers writes them. If there is none, the mean of the last hidden states, as in sentence-transformers.
 */
struct graft_embedding_info {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t size; /* length of a vector: hidden_size, or more if several poolings are joined */
    int64_t
        max_tokens; /* texts should be truncated to this many tokens, including special ones; 0: the files do not say */
};

#define GRAFT_EMBEDDING_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_embedding_info, max_tokens)

/* [any] Fills in `embedding`, whose struct_size is set, from those files. Malformed files, or ones that ask for
 * something unsupported, are GRAFT_ERROR_MODEL. */
int graft_model_embedding(struct graft_model *model, struct graft_embedding_info *embedding, struct graft_error *error);

/* [any, one thread per model] Computes one vector for each of `n` texts: [n, embedding.size]. Texts are not truncated.
 */
int graft_model_embed(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n, float *vectors,
                      struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
