/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens that the files next to tokenizer.json name, as transformers reads them:
 *
 * - tokenizer_config.json: `added_tokens_decoder`; the named tokens (`eos_token` and every other field that ends in
 *   `_token`); `extra_special_tokens`, or `additional_special_tokens` where that is not given;
 * - special_tokens_map.json (whose fields replace those of tokenizer_config.json) and added_tokens.json, both read only
 *   where there is no `added_tokens_decoder`.
 */
#ifndef GRAFT_TOKENIZER_CONFIG_TOKENS_H
#define GRAFT_TOKENIZER_CONFIG_TOKENS_H

#include "tokenizer/added.h"
#include "tokenizer/recipe.h"
#include "tokenizer/sentencepiece.h"

/* The three files. */
enum { GRAFT_TOKENIZER_CONFIG, GRAFT_SPECIAL_TOKENS_MAP, GRAFT_ADDED_TOKENS, GRAFT_N_TOKEN_FILES };

/* A token that one of the files names. */
struct graft_config_token {
    const char *name; /* "eos_token"; NULL for others */
    const char *file;
    struct graft_added_token token;
    int64_t id;  /* the id that the file gives; -1: none */
    int is_text; /* written as a string, without a rule */
};

/* Growing; starts as {0}. */
struct graft_config_token_list {
    struct graft_config_token *items;
    size_t n;
    size_t capacity;
};

/* The tokens of a directory whose files name none. */
struct graft_token_defaults {
    const graft_json *entry; /* the entry of the tokenizer's class in classes.json; NULL: none */
    const struct graft_recipe_values *values;
    const struct graft_sentencepiece *pieces; /* NULL: none */
};

/* Starts as {0}. */
struct graft_config_tokens {
    char *paths[GRAFT_N_TOKEN_FILES];
    graft_json *documents[GRAFT_N_TOKEN_FILES]; /* NULL where there is no such file */
    struct graft_config_token_list listed;      /* with ids */
    struct graft_config_token_list named;       /* in the order in which they are added */
    struct graft_config_token_list extra;
    graft_json *class_extra; /* the class's extra special tokens, a list of texts */
    int has_decoder;         /* whether there is an added_tokens_decoder */
    int split_special_tokens;
    int clean_up; /* clean_up_tokenization_spaces: removes spaces before punctuation from decoded text */
    int clean_up_bpe_too;
    int has_truncation_side;
    int truncates_left; /* a text that is too long is cut at its beginning */
};

/* [load] Reads those of the files that exist. Errors are GRAFT_ERROR_MODEL. The caller finishes it, even on failure. */
int graft_config_tokens_open(struct graft_config_tokens *tokens, const char *directory, struct graft_error *error);

/* [load] Lists the files' tokens. What `defaults` points to must outlive `tokens`. */
int graft_config_tokens_read(struct graft_config_tokens *tokens, const struct graft_token_defaults *defaults,
                             struct graft_error *error);

/* [load] Expands a class's list of texts, in which {"numbered": TEXT, "count": N} stands for N texts, TEXT0> to
 * TEXT<N-1>>, in reverse order if "down" is true. `file` is named in errors. */
int graft_config_tokens_list(const struct graft_recipe_values *values, const graft_json *part, const char *file,
                             graft_json **list, struct graft_error *error);

/* [load] Adds the tokens to those of tokenizer.json. If ids that a file gives are not used, a note about it is added to
 * `notes`, with a NUL after it. `entry` is that of the tokenizer's class, or NULL. */
int graft_config_tokens_add(struct graft_config_tokens *tokens, const graft_json *entry, struct graft_added *added,
                            const struct graft_vocab *vocab, struct graft_text *notes, struct graft_error *error);

void graft_config_tokens_finish(struct graft_config_tokens *tokens);

#endif
