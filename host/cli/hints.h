/* SPDX-License-Identifier: Apache-2.0 */
/* Translates errors and hints of the library, which name its calls and fields, into commands and options. */
#ifndef GRAFT_CLI_HINTS_H
#define GRAFT_CLI_HINTS_H

#include "graft/error.h"

/* Replaces the library fields that an error names with options, and the calls that its hint names with commands. */
void graft_hint_translate(struct graft_error *error);

/* Whether a file of this name holds weights that share/to_safetensors.py converts. */
int graft_hint_is_convertible(const char *path);

/* Hints at the command that converts the weights of this file, or directory, to safetensors. */
void graft_hint_convert(const char *path, struct graft_error *error);

/* Hints on stderr at `chat`, if a model with a chat template ended its answer to a plain prompt at once. */
struct graft_options;
struct graft_printer;
void graft_hint_chat(const struct graft_options *options, const struct graft_printer *printer);

/* What to add to a note of the library: "", or " with --enable". */
const char *graft_hint_for_note(const char *note);

#endif
