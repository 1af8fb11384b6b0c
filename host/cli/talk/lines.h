/* SPDX-License-Identifier: Apache-2.0 */
/* Reads messages that a user types: with libedit and its history if stdin is a terminal and the program was built with
 * it, else as plain lines. */
#ifndef GRAFT_CLI_TALK_LINES_H
#define GRAFT_CLI_TALK_LINES_H

#include "graft/error.h"
#include "graft/host/tokenizer.h"

struct graft_lines;

enum graft_lines_end { GRAFT_LINES_TEXT, GRAFT_LINES_INTERRUPTED, GRAFT_LINES_OVER };

/* The caller frees `*lines` with graft_lines_destroy; NULL on failure. */
int graft_lines_create(struct graft_lines **lines, struct graft_error *error);
void graft_lines_destroy(struct graft_lines *lines);

/* Reads the next message into `text`: a line, several lines of which all but the last end with a backslash, or the
 * lines between two lines of """. */
enum graft_lines_end graft_lines_read(struct graft_lines *lines, struct graft_text *text);

#endif
