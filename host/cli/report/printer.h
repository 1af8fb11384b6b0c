/* SPDX-License-Identifier: Apache-2.0 */
/* Prints generated sequences to stdout: as text, as ids, or as one JSON document. */
#ifndef GRAFT_CLI_REPORT_PRINTER_H
#define GRAFT_CLI_REPORT_PRINTER_H

#include "base/json.h"
#include "cli/options.h"
#include "cli/prompts.h"
#include "cli/report/logprobs.h"
#include "graft/host/graft.h"
#include "graft/host/tokenizer.h"

/* A sequence so far. */
struct graft_printed {
    struct graft_ids ids;
    int32_t end; /* GRAFT_SEQUENCE_...: why it ended; GRAFT_SEQUENCE_RUNNING: it has not */
    struct graft_logprobs logprobs;
};

struct graft_printer {
    const struct graft_options *options;
    const struct graft_model *model;
    const struct graft_tokenizer *tokenizer; /* NULL: ids are printed */
    const struct graft_prompts *prompts;
    struct graft_decode_stream *stream; /* prints a single text as it comes; NULL: all is printed at the end */
    size_t per_prompt;                  /* number of sequences per prompt */
    size_t n;                           /* number of sequences; those of a prompt are consecutive */
    struct graft_printed *sequences;    /* [n] */
    int64_t n_tokens;                   /* tokens of all sequences so far */
    size_t awaited;                     /* number of sequences without a token */
    int comes_at_end;                   /* 1: beams, whose tokens come only at the end */
    double start;                       /* time when generation began, seconds */
    double first;                       /* time when every sequence had a token */
    double last;                        /* time of the last token */
};

/* The caller calls graft_printer_finish, also after an error. */
int graft_printer_begin(struct graft_printer *printer, const struct graft_options *options,
                        const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_prompts *prompts, const struct graft_generation *generation,
                        struct graft_error *error);

/* A graft_generated_function; `data` is the printer. */
int graft_printer_add(void *data, const struct graft_sequence_token *token, struct graft_error *error);

/* Prints the rest when all sequences have ended. */
int graft_printer_end(struct graft_printer *printer, struct graft_error *error);
void graft_printer_finish(struct graft_printer *printer);

/* Makes the document of `run --json`. The caller frees it; NULL on failure. */
int graft_printer_json(const struct graft_printer *printer, graft_json **document, struct graft_error *error);

#endif
