/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of sentence-transformers in a model directory say about making one vector of a text. */
#ifndef GRAFT_ENCODE_SENTENCE_H
#define GRAFT_ENCODE_SENTENCE_H

#include "encode/pooling.h"
#include "graft/error.h"

struct graft_sentence {
    struct graft_pooling pooling;
    int64_t max_tokens; /* texts are cut to so many tokens; 0 without such files */
};

/* [load] Reads modules.json, the configuration of the pooling it names, sentence_bert_config.json and
 * config_sentence_transformers.json; without modules.json the mean. `max_tokens` and `hidden_size` are the model's.
 * Errors (GRAFT_ERROR_MODEL) name file and field; so do things that these files ask for and that are not done here. */
int graft_sentence_read(const char *directory, int64_t max_tokens, int64_t hidden_size, struct graft_sentence *sentence,
                        struct graft_error *error);

#endif
