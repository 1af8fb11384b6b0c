/* SPDX-License-Identifier: Apache-2.0 */
/* --session: keeps the cache of the prompts' common beginning in a file, so that the next run need not read it
 * again. */
#ifndef GRAFT_CLI_SESSION_H
#define GRAFT_CLI_SESSION_H

#include "cli/report/printer.h"

/* Tokens of a piece. Prompts are read, shared and stored in whole pieces. */
enum { GRAFT_SESSION_PIECE = 128 };

/* Loads the file of --session, if it is given and the file exists. */
int graft_session_begin(const struct graft_options *options, struct graft_sequences *sequences,
                        struct graft_error *error);

/* Writes the file of --session, if it is given and there are more tokens to keep than it has. Prints the counts unless
 * --quiet is given. */
int graft_session_end(const struct graft_options *options, struct graft_sequences *sequences,
                      struct graft_error *error);

/* Generates as graft_model_generate_tokens does, with the file loaded before and written after. */
int graft_session_generate(const struct graft_options *options, struct graft_model *model,
                           const struct graft_prompts *prompts, const struct graft_generation *generation,
                           struct graft_printer *printer, struct graft_error *error);

#endif
