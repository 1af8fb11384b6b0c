/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the texts for encoders: first those of the command line, then the lines of stdin. */
#ifndef GRAFT_CLI_TEXTS_H
#define GRAFT_CLI_TEXTS_H

#include "cli/options.h"
#include "graft/host/encode.h"
#include "graft/host/tokenizer.h"

struct graft_texts {
    const struct graft_options *options;
    const struct graft_model *model;
    const struct graft_tokenizer *tokenizer; /* NULL if all texts are ids */
    int64_t max_tokens;                      /* most tokens of a text; more are an error */
    int64_t token_types; /* number of token types of the model; if it is 1, those of the tokenizer are ignored */
    int64_t cut_to;      /* texts are truncated to this many tokens; 0: they are not */
    int finds_second;    /* 1: the place of a pair's second text is wanted */
    size_t given;        /* number of texts on the command line */
    size_t next;         /* index of the next text, lines included */
    size_t n_cut;
    char *line; /* buffer of getline */
    size_t line_capacity;
};

/* A text as ids. The caller of graft_texts_next owns it. */
struct graft_text_ids {
    struct graft_ids ids;
    struct graft_ids types; /* [ids.n] types of the tokens */
    size_t second;          /* with finds_second: index of the first token of a pair's second text */
    size_t n_second;        /* its number of tokens; 0: there is no second text */
};

/* Whether a text of the options has to be tokenized. */
int graft_texts_need_tokenizer(const struct graft_options *options);

/* Whether lines of stdin are texts: with --lines and --pairs, and with --embed where no text is given. */
int graft_texts_reads_lines(const struct graft_options *options);

/* The code for an error in text number `i`: one for arguments, another for texts from files and lines. Prompts have the
 * same numbers. */
int graft_texts_code(const struct graft_options *options, size_t i);

/* Begins reading, and checks that --text-pair and --token-type-ids match the texts. */
int graft_texts_begin(struct graft_texts *texts, const struct graft_options *options, const struct graft_model *model,
                      const struct graft_tokenizer *tokenizer, struct graft_error *error);
void graft_texts_end(struct graft_texts *texts);

/* Adds the next text to `text`, which starts as {0}; `*more` becomes 0 when there is none. Errors name the line. */
int graft_texts_next(struct graft_texts *texts, struct graft_text_ids *text, int *more, struct graft_error *error);
void graft_text_ids_free(struct graft_text_ids *text);

#endif
