/* SPDX-License-Identifier: Apache-2.0 */
/* Creates models from plain data, whichever file it was read from. All functions are [load]. The vocabulary must be
 * complete and must outlive the model; everything else is copied. `file` names the vocabulary's file in errors, also in
 * later errors of encoding. The caller destroys the model with graft_token_model_destroy. */
#ifndef GRAFT_TOKENIZER_MODEL_MAKE_H
#define GRAFT_TOKENIZER_MODEL_MAKE_H

#include "tokenizer/model.h"

/* Longer tokens are an error, because Unigram and WordPiece try every length that a token can have at every position of
 * a text. */
enum { GRAFT_TOKEN_MAX_BYTES = 4096 };

struct graft_unigram_settings {
    const double *scores; /* [vocab->count] score of each token; ids are 0, 1, ... in the vocabulary's order */
    int32_t unk_id;       /* -1: none; a text that needs it is an error */
    int byte_fallback;    /* unknown text becomes the tokens of its bytes, if the vocabulary has all of these */
};
int graft_unigram_create(const char *file, const struct graft_vocab *vocab,
                         const struct graft_unigram_settings *settings, struct graft_token_model **made,
                         struct graft_error *error);

struct graft_wordpiece_settings {
    struct graft_text_view unk_token; /* if the vocabulary lacks it, a text that needs it is an error */
    struct graft_text_view prefix;    /* continuing_subword_prefix: marks tokens that continue a word, "##" */
    int64_t max_characters;           /* max_input_chars_per_word: a longer word is unknown */
};
int graft_wordpiece_create(const char *file, const struct graft_vocab *vocab,
                           const struct graft_wordpiece_settings *settings, struct graft_token_model **made,
                           struct graft_error *error);

struct graft_bpe_settings {
    struct graft_text_view unk_token;                 /* NULL: unknown characters are dropped */
    struct graft_text_view continuing_subword_prefix; /* precedes every character but a word's first */
    struct graft_text_view end_of_word_suffix;        /* follows a word's last character */
    int ignore_merges; /* a word that is in the vocabulary becomes that token without merging */
    int byte_fallback; /* a character that is not in the vocabulary becomes the tokens of its bytes */
    int fuse_unk;      /* adjacent unknown characters become one unknown token */
};
int graft_bpe_create(const char *file, const struct graft_vocab *vocab, const struct graft_bpe_settings *settings,
                     struct graft_token_model **made, struct graft_error *error);

/* Reserves room for `n` merges. Returns 0, or -1 if memory ran out. */
int graft_bpe_reserve_merges(struct graft_token_model *bpe, size_t n);

/* Adds the merge of the next rank; of equal pairs the last one counts. Returns 0, or -1 if memory ran out, or 1 if the
 * vocabulary lacks one of the two tokens or the merged one, whose text is then added to `missing`. */
int graft_bpe_add_merge(struct graft_token_model *bpe, struct graft_text_view left, struct graft_text_view right,
                        struct graft_text *missing);

#endif
