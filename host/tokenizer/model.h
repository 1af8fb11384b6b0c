/* SPDX-License-Identifier: Apache-2.0 */
/* Fourth step of an encode: the model turns one word into token ids. */
#ifndef GRAFT_TOKENIZER_MODEL_H
#define GRAFT_TOKENIZER_MODEL_H

#include "graft/host/tokenizer.h"
#include "tokenizer/bpe_merge.h"
#include "tokenizer/document.h"
#include "tokenizer/spec.h"
#include "tokenizer/vocab.h"

/* One kind is one file, which embeds this as the first member of what it needs. */
struct graft_token_model {
    /* [any] Adds the ids of `word` (valid UTF-8, not empty). `work` is memory that a whole encode shares. */
    int (*encode)(const struct graft_token_model *self, const char *word, size_t length, struct graft_merge_work *work,
                  struct graft_ids *out, struct graft_error *error);
    void (*destroy)(struct graft_token_model *self);
};

/* [load] Reads the field `model`, its vocabulary into `vocab` (empty), which the model goes on to use. */
int graft_token_model_load(const struct graft_spec *spec, const struct graft_document *document,
                           struct graft_vocab *vocab, struct graft_token_model **model, struct graft_error *error);

void graft_token_model_destroy(struct graft_token_model *model);

/* [load] What makes each kind, the vocabulary being read. */
typedef int graft_token_model_create(const struct graft_spec *spec, const struct graft_document *document,
                                     const struct graft_vocab *vocab, struct graft_token_model **made,
                                     struct graft_error *error);
graft_token_model_create graft_token_model_create_bpe;
graft_token_model_create graft_token_model_create_wordpiece;

#endif
