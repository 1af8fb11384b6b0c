/* SPDX-License-Identifier: Apache-2.0 */
/* Reads standard input as a prompt. */
#ifndef GRAFT_CLI_STANDARD_INPUT_H
#define GRAFT_CLI_STANDARD_INPUT_H

#include "cli/options.h"

/* Reads standard input if it is a prompt: where --prompt-file is "-"; and where `run` is given no prompt at all and
 * standard input is a pipe, a socket or a file that is not empty, which then counts as --prompt-file -. A terminal,
 * /dev/null and a closed standard input are no prompt. A line end that closes the text is not part of the prompt. */
int graft_standard_input_take(struct graft_options *options, struct graft_error *error);

/* The text of --prompt-file `path`, with a NUL after it: of a file, or for "-" what was taken. The caller frees it with
 * graft_free. */
int graft_prompt_file_read(const struct graft_options *options, const char *path, char **text, size_t *length,
                           struct graft_error *error);

#endif
