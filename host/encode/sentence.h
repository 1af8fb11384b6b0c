/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of sentence-transformers in a model directory say about making one vector of a text. */
#ifndef GRAFT_ENCODE_SENTENCE_H
#define GRAFT_ENCODE_SENTENCE_H

#include "encode/dense.h"
#include "encode/pooling.h"
#include "graft/error.h"

enum { GRAFT_SENTENCE_STEPS = 16 };

/* A step behind the pooling: Dense, or without a weight Normalize, which divides the vector by its length. */
struct graft_sentence_step {
    struct graft_dense dense; /* `weight` NULL: Normalize */
};

struct graft_sentence {
    struct graft_pooling pooling;
    struct graft_sentence_step steps[GRAFT_SENTENCE_STEPS]; /* [n_steps] */
    int32_t n_steps;
    int64_t size;       /* numbers of the last vector */
    int64_t largest;    /* numbers of the longest vector that a step takes or gives */
    int64_t max_tokens; /* texts are cut to so many tokens; 0 without such files */
};

/* What is known of the model. */
struct graft_sentence_model {
    const char *directory;
    int64_t max_tokens;
    int64_t hidden_size;
    int32_t is_decoder; /* 1: there is no default pooling */
};

/* [load] Reads modules.json, the files of the modules it names, sentence_bert_config.json and
 * config_sentence_transformers.json; without modules.json an encoder's is the mean. Errors (GRAFT_ERROR_MODEL) name
 * file and field; so do things that these files ask for and that are not done here. */
int graft_sentence_read(const struct graft_sentence_model *model, struct graft_sentence *sentence,
                        struct graft_error *error);
void graft_sentence_finish(struct graft_sentence *sentence);

/* [any] vector [sentence->size] of a text's hidden states [tokens, hidden_size]; `work` [2, sentence->largest]. */
void graft_sentence_run(const struct graft_sentence *sentence, const float *hidden, int64_t tokens, int64_t hidden_size,
                        float *work, float *vector);

#endif
