/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sentence-transformers' files, which say how a model directory turns a text into one vector. */
#ifndef GRAFT_ENCODE_SENTENCE_H
#define GRAFT_ENCODE_SENTENCE_H

#include "encode/dense.h"
#include "encode/pooling.h"
#include "graft/error.h"

enum { GRAFT_SENTENCE_STEPS = 16 };

/* A step after pooling: Dense, or Normalize, which divides the vector by its length. */
struct graft_sentence_step {
    struct graft_dense dense; /* `weight` NULL: Normalize */
};

struct graft_sentence {
    struct graft_pooling pooling;
    struct graft_sentence_step steps[GRAFT_SENTENCE_STEPS]; /* [n_steps] */
    int32_t n_steps;
    int64_t size;       /* length of the final vector */
    int64_t largest;    /* length of the longest vector between steps */
    int64_t max_tokens; /* texts are truncated to this many tokens; 0: the files do not say */
};

/* The model that the files belong to. */
struct graft_sentence_model {
    const char *directory;
    int64_t max_tokens;
    int64_t hidden_size;
    int32_t is_decoder; /* 1: a decoder, for which there is no default pooling */
};

/* [load] Reads modules.json, the files of the modules that it lists, sentence_bert_config.json and
 * config_sentence_transformers.json. Without modules.json, encoders use the mean. Errors (GRAFT_ERROR_MODEL), also for
 * unsupported settings, name file and field. */
int graft_sentence_read(const struct graft_sentence_model *model, struct graft_sentence *sentence,
                        struct graft_error *error);
void graft_sentence_finish(struct graft_sentence *sentence);

/* [any] Computes vector [sentence->size] from a text's hidden states [tokens, hidden_size]; `work` has room for [2,
 * sentence->largest]. */
void graft_sentence_run(const struct graft_sentence *sentence, const float *hidden, int64_t tokens, int64_t hidden_size,
                        float *work, float *vector);

#endif
