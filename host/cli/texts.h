/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that a model reads as a whole: those of the command line, then the lines of stdin, one after another. */
#ifndef GRAFT_CLI_TEXTS_H
#define GRAFT_CLI_TEXTS_H

#include "cli/options.h"
#include "graft/host/encode.h"
#include "graft/host/tokenizer.h"

struct graft_texts {
    const struct graft_options *options;
    const struct graft_model *model;
    const struct graft_tokenizer *tokenizer; /* NULL when there are ids alone */
    int64_t max_tokens;                      /* of a text; more are an error */
    int64_t token_types;                     /* of the model; with one alone a tokenizer's are left out */
    int64_t cut_to;                          /* longer texts lose their end; 0: they are left as they are */
    int finds_second;                        /* whether it is wanted where the second text of a pair lies */
    size_t given;                            /* how many the command line has */
    size_t next;                             /* the number of the next one, lines included */
    size_t n_cut;
    char *line; /* getline's */
    size_t line_capacity;
};

/* One text; owned by who asked for it. */
struct graft_text_ids {
    struct graft_ids ids;
    struct graft_ids types; /* as many */
    size_t second;          /* with finds_second: the tokens of a pair's second text are n_second from here on */
    size_t n_second;        /* 0: there is no second text */
};

/* Whether a text of the options has to be tokenized. */
int graft_texts_need_tokenizer(const struct graft_options *options);

/* Whether lines of stdin are texts: with --lines and --pairs, and with --embed where no text is given. */
int graft_texts_reads_lines(const struct graft_options *options);

/* The code of an error in text number `i`, of the command line and then of lines: an argument's, or that of what a file
 * or a line holds. Prompts are numbered alike. */
int graft_texts_code(const struct graft_options *options, size_t i);

/* Checks that what belongs together was given together. */
int graft_texts_begin(struct graft_texts *texts, const struct graft_options *options, const struct graft_model *model,
                      const struct graft_tokenizer *tokenizer, struct graft_error *error);
void graft_texts_end(struct graft_texts *texts);

/* Adds the next text to `text`, which starts as {0}; `*more` becomes 0 when there is none. Errors name the line. */
int graft_texts_next(struct graft_texts *texts, struct graft_text_ids *text, int *more, struct graft_error *error);
void graft_text_ids_free(struct graft_text_ids *text);

#endif
