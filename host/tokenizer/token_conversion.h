/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tokenizer made of the files that a directory has in the place of tokenizer.json: a SentencePiece model, vocab.json
 * and merges.txt, or vocab.txt. The class of the tokenizer says what is made of them.
 */
#ifndef GRAFT_TOKENIZER_TOKEN_CONVERSION_H
#define GRAFT_TOKENIZER_TOKEN_CONVERSION_H

#include "tokenizer/config_tokens.h"
#include "tokenizer/model.h"
#include "tokenizer/recipe.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/token_class.h"

/* What the vocabulary is read from. */
enum graft_vocabulary_kind { GRAFT_VOCABULARY_PIECES, GRAFT_VOCABULARY_JSON, GRAFT_VOCABULARY_LINES };

/* A token of the vocabulary, whose id is its place. */
struct graft_scored_piece {
    struct graft_piece_text text;
    double score;
};

/* Starts as {0}. */
struct graft_token_conversion {
    const struct graft_token_class *token_class;
    enum graft_vocabulary_kind kind;
    char *path; /* of the vocabulary's file */
    struct graft_sentencepiece pieces;
    char *vocab; /* [vocab_length] the text of vocab.json or vocab.txt */
    size_t vocab_length;
    char *merges_path;
    char *merges;
    size_t merges_length;
    graft_json *own; /* values for recipes */
    struct graft_recipe_values values;
    graft_json *head, *tail;             /* pieces before and behind those of the file */
    struct graft_scored_piece *arranged; /* [n_arranged] all of them, of a SentencePiece model */
    size_t n_arranged;
    graft_json *rest; /* what would be in a tokenizer.json, without the vocabulary */
};

/* [load] Finds and reads the vocabulary. Errors are GRAFT_ERROR_MODEL. To be finished on failure too. */
int graft_token_conversion_open(struct graft_token_conversion *conversion, const char *directory,
                                const struct graft_token_class *token_class, const graft_json *config,
                                struct graft_error *error);

/* [load] Fills `rest`; the named tokens are known now. */
int graft_token_conversion_fill(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                struct graft_error *error);

/* [load] Arranges the pieces of a SentencePiece model, `head` and `tail` being known. */
int graft_token_conversion_arrange(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                   struct graft_error *error);

/* [load] Makes the vocabulary and the model of it. */
int graft_token_conversion_model(struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                                 struct graft_token_model **model, struct graft_error *error);

/* [load] Puts the post-processor into `rest`; all tokens are there now. `post` is the member "post" of the class, or
 * NULL for what add_bos_token and add_eos_token say. */
int graft_token_conversion_post(struct graft_token_conversion *conversion, const graft_json *post,
                                const struct graft_config_tokens *tokens, const struct graft_added *added,
                                const struct graft_vocab *vocab, struct graft_error *error);

void graft_token_conversion_finish(struct graft_token_conversion *conversion);

#endif
