/* SPDX-License-Identifier: Apache-2.0 */
/* Fourth step of an encode: the model turns one word into token ids. */
#ifndef GRAFT_TOKENIZER_MODEL_H
#define GRAFT_TOKENIZER_MODEL_H

#include "base/json_field.h"
#include "graft/host/tokenizer.h"
#include "tokenizer/document.h"
#include "tokenizer/lexicon.h"
#include "tokenizer/model_work.h"
#include "tokenizer/vocab.h"

/* A model. Each kind has its own file and a struct whose first member is this one. */
struct graft_token_model {
    /* [any] Adds the ids of `word` (valid UTF-8, not empty). */
    int (*encode)(const struct graft_token_model *self, const char *word, size_t length, struct graft_model_work *work,
                  struct graft_ids *out, struct graft_error *error);
    void (*destroy)(struct graft_token_model *self);
};

/* [load] Reads the field `model`. Its vocabulary is read into `vocab` (empty), which must outlive the model. */
int graft_token_model_load(const struct graft_field *spec, const struct graft_document *document,
                           struct graft_vocab *vocab, struct graft_token_model **model, struct graft_error *error);

void graft_token_model_destroy(struct graft_token_model *model);

/* [load] Reads a model of one kind and its vocabulary. */
typedef int graft_token_model_read(const struct graft_field *spec, const struct graft_document *document,
                                   struct graft_vocab *vocab, struct graft_token_model **made,
                                   struct graft_error *error);
graft_token_model_read graft_token_model_read_bpe;
graft_token_model_read graft_token_model_read_unigram;
graft_token_model_read graft_token_model_read_wordpiece;
graft_token_model_read graft_token_model_read_wordlevel;

/* [load] Builds the trie of a vocabulary's tokens with their ids. A token of more than GRAFT_TOKEN_MAX_BYTES
 * (model_make.h) is GRAFT_ERROR_MODEL. */
int graft_vocab_lexicon(const struct graft_vocab *vocab, const char *file, struct graft_lexicon *lexicon,
                        struct graft_error *error);

/* [load] Reads the field `spec`, an object that maps tokens to ids, into an empty vocabulary. */
int graft_vocab_read(const struct graft_field *spec, struct graft_json_cursor cursor, struct graft_vocab *vocab,
                     struct graft_error *error);

/* [any] The error of a text that needs the unknown token, which the vocabulary lacks. */
int graft_unk_token_needed(const char *file, struct graft_error *error);

#endif
