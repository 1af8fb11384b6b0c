/* SPDX-License-Identifier: Apache-2.0 */
/* What a model generates, on its way to stdout: text or ids, or one JSON document. */
#ifndef GRAFT_CLI_REPORT_PRINTER_H
#define GRAFT_CLI_REPORT_PRINTER_H

#include "base/json.h"
#include "cli/options.h"
#include "cli/prompts.h"
#include "cli/report/logprobs.h"
#include "graft/host/graft.h"
#include "graft/host/tokenizer.h"

/* One sequence. */
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
    struct graft_decode_stream *stream; /* a single text is printed as it comes; NULL: all is printed at the end */
    size_t per_prompt;                  /* sequences that each prompt gets */
    size_t n;                           /* sequences: those of the first prompt, then those of the next */
    struct graft_printed *sequences;    /* [n] */
    int64_t n_tokens;                   /* so far, of all sequences */
    size_t awaited;                     /* sequences without a token */
    int comes_at_end;                   /* 1: beams, whose tokens come when all is over */
    double start;                       /* seconds: when generation began, */
    double first;                       /* each sequence had a token, */
    double last;                        /* and the last token came */
};

/* Also after an error the caller gives the printer to graft_printer_finish. */
int graft_printer_begin(struct graft_printer *printer, const struct graft_options *options,
                        const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_prompts *prompts, const struct graft_generation *generation,
                        struct graft_error *error);

/* graft_generated_function for a printer. */
int graft_printer_add(void *data, const struct graft_sequence_token *token, struct graft_error *error);

/* Prints what has not been printed yet: all sequences are over. */
int graft_printer_end(struct graft_printer *printer, struct graft_error *error);
void graft_printer_finish(struct graft_printer *printer);

/* The document of `run --json`. The caller frees it; NULL with an error if there is none. */
int graft_printer_json(const struct graft_printer *printer, graft_json **document, struct graft_error *error);

#endif
