/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a tokenizer from the files that a directory has instead of tokenizer.json: a SentencePiece model, vocab.json
 * and merges.txt, or vocab.txt. The tokenizer's class (token_class.h) says how. */
#ifndef GRAFT_TOKENIZER_TOKEN_CONVERSION_H
#define GRAFT_TOKENIZER_TOKEN_CONVERSION_H

#include "tokenizer/config_tokens.h"
#include "tokenizer/model.h"
#include "tokenizer/recipe.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/token_class.h"

/* The format of the vocabulary. */
enum graft_vocabulary_kind { GRAFT_VOCABULARY_PIECES, GRAFT_VOCABULARY_JSON, GRAFT_VOCABULARY_LINES };

/* A token of the vocabulary; its id is its index. */
struct graft_scored_piece {
    struct graft_piece_text text;
    double score;
};

/* Starts as {0}. */
struct graft_token_conversion {
    const struct graft_token_class *token_class;
    enum graft_vocabulary_kind kind;
    char *path; /* the vocabulary's file */
    struct graft_sentencepiece pieces;
    char *vocab; /* [vocab_length] the text of vocab.json or vocab.txt */
    size_t vocab_length;
    char *merges_path;
    char *merges;
    size_t merges_length;
    graft_json *own; /* values for recipes, by name */
    struct graft_recipe_values values;
    graft_json *head, *tail;             /* pieces before and after those of the file */
    struct graft_scored_piece *arranged; /* [n_arranged] a SentencePiece model's vocabulary: head, pieces and tail */
    size_t n_arranged;
    graft_json *rest; /* a tokenizer.json without the vocabulary */
};

/* [load] Finds and reads the vocabulary. Errors are GRAFT_ERROR_MODEL. Finish it after a failure as well. */
int graft_token_conversion_open(struct graft_token_conversion *conversion, const char *directory,
                                const struct graft_token_class *token_class, const graft_json *config,
                                struct graft_error *error);

/* [load] Fills `rest` from the class's recipe, once the named tokens are known. */
int graft_token_conversion_fill(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                struct graft_error *error);

/* [load] Arranges the pieces of a SentencePiece model, once `head` and `tail` are known. */
int graft_token_conversion_arrange(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                   struct graft_error *error);

/* [load] Builds the vocabulary and the model. */
int graft_token_conversion_model(struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                                 struct graft_token_model **model, struct graft_error *error);

/* [load] Puts the post-processor into `rest`, once all tokens are known. `post` is the class's member "post", or NULL
 * to follow add_bos_token and add_eos_token. */
int graft_token_conversion_post(struct graft_token_conversion *conversion, const graft_json *post,
                                const struct graft_config_tokens *tokens, const struct graft_added *added,
                                const struct graft_vocab *vocab, struct graft_error *error);

void graft_token_conversion_finish(struct graft_token_conversion *conversion);

#endif
