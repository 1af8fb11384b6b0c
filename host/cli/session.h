/* SPDX-License-Identifier: Apache-2.0 */
/* What prompts begin with, kept in a file (--session). */
#ifndef GRAFT_CLI_SESSION_H
#define GRAFT_CLI_SESSION_H

#include "cli/report/printer.h"

/* Tokens of a piece: prompts are read, shared and kept in whole ones. */
enum { GRAFT_SESSION_PIECE = 128 };

/* Reads the file, if one was asked for and is there. */
int graft_session_begin(const struct graft_options *options, struct graft_sequences *sequences,
                        struct graft_error *error);

/* Writes the file, if one was asked for and there is more to keep than it has. */
int graft_session_end(const struct graft_options *options, struct graft_sequences *sequences,
                      struct graft_error *error);

/* graft_model_generate_tokens, between the two. */
int graft_session_generate(const struct graft_options *options, struct graft_model *model,
                           const struct graft_prompts *prompts, const struct graft_generation *generation,
                           struct graft_printer *printer, struct graft_error *error);

#endif
