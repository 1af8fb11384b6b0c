/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models made of plain data, wherever it was read. All functions are [load]. The vocabulary must be complete, and must
 * outlive the model; everything else is copied. `file` names the vocabulary's file in errors, also in those that a text
 * brings out later. The caller destroys the model with graft_token_model_destroy.
 */
#ifndef GRAFT_TOKENIZER_MODEL_MAKE_H
#define GRAFT_TOKENIZER_MODEL_MAKE_H

#include "tokenizer/model.h"

/* Unigram and WordPiece try every place of a text with every length that a token can have: a longer token is an error.
 */
enum { GRAFT_TOKEN_MAX_BYTES = 4096 };

struct graft_unigram_settings {
    const double *scores; /* [vocab->count] of the vocabulary's tokens; their ids are 0, 1, ... in its order */
    int32_t unk_id;       /* -1: a text that needs it is an error */
    int byte_fallback;    /* unknown text becomes the tokens of its bytes, if there is one for each */
};
int graft_unigram_create(const char *file, const struct graft_vocab *vocab,
                         const struct graft_unigram_settings *settings, struct graft_token_model **made,
                         struct graft_error *error);

struct graft_wordpiece_settings {
    struct graft_text_view unk_token; /* if the vocabulary lacks it, a text that needs it is an error */
    struct graft_text_view prefix;    /* of tokens that continue a word: "##" */
    int64_t max_characters;           /* a longer word is unknown */
};
int graft_wordpiece_create(const char *file, const struct graft_vocab *vocab,
                           const struct graft_wordpiece_settings *settings, struct graft_token_model **made,
                           struct graft_error *error);

/* A word is a token or `unk_token`, which, if the vocabulary lacks it, makes a text that needs it an error. */
int graft_wordlevel_create(const char *file, const struct graft_vocab *vocab, struct graft_text_view unk_token,
                           struct graft_token_model **made, struct graft_error *error);

struct graft_bpe_settings {
    struct graft_text_view unk_token;                 /* NULL: unknown characters vanish */
    struct graft_text_view continuing_subword_prefix; /* of every character but a word's first */
    struct graft_text_view end_of_word_suffix;        /* of a word's last character */
    int ignore_merges;                                /* a word that is a token is that token, merges or not */
    int byte_fallback;                                /* a character that is no token becomes its bytes' tokens */
    int fuse_unk;                                     /* neighbouring unknown characters are one unknown token */
};
int graft_bpe_create(const char *file, const struct graft_vocab *vocab, const struct graft_bpe_settings *settings,
                     struct graft_token_model **made, struct graft_error *error);

/* Room for `n` merges. Returns 0, or -1 out of memory. */
int graft_bpe_reserve_merges(struct graft_token_model *bpe, size_t n);

/* Adds the merge of the next rank; of equal pairs the last one counts. Returns 0; 1, when the vocabulary lacks one of
 * the two or what they become, which is added to `missing`; or -1 out of memory. */
int graft_bpe_add_merge(struct graft_token_model *bpe, struct graft_text_view left, struct graft_text_view right,
                        struct graft_text *missing);

#endif
