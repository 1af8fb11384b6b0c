/* SPDX-License-Identifier: Apache-2.0 */
/* Makes generation settings from the options of the command line. */
#ifndef GRAFT_CLI_GENERATION_H
#define GRAFT_CLI_GENERATION_H

#include "cli/options.h"
#include "graft/host/generate.h"

struct graft_model;

/* Sets `*generation` to the model's defaults, overridden by the options. Its lists belong to the model and to
 * `*fields`, which the caller frees with graft_generation_fields_free, also after an error. Errors are
 * GRAFT_ERROR_USAGE and name the option. */
int graft_generation_choose(const struct graft_options *options, const struct graft_model *model,
                            struct graft_generation *generation, struct graft_generation_fields **fields,
                            struct graft_error *error);

/* Whether the option of a field of generation_config.json, such as "max-length", is on the command line. */
int graft_generation_is_given(const struct graft_options *options, const char *name);

/* Notes on stderr if --speculate has no effect with these settings. */
void graft_generation_note(const struct graft_generation *generation);

/* Greedy generation of exactly `new_tokens` tokens, whatever the model directory says, for measuring and comparing. */
struct graft_generation graft_generation_plain(int64_t new_tokens);

#endif
