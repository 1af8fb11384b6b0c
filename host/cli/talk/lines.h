/* SPDX-License-Identifier: Apache-2.0 */
/* What a user types: lines, by libedit with its history where stdin is a terminal and it was there at the build; plain
 * ones otherwise. */
#ifndef GRAFT_CLI_TALK_LINES_H
#define GRAFT_CLI_TALK_LINES_H

#include "graft/error.h"
#include "graft/host/tokenizer.h"

struct graft_lines;

enum graft_lines_end { GRAFT_LINES_TEXT, GRAFT_LINES_INTERRUPTED, GRAFT_LINES_OVER };

/* The caller destroys them; NULL on failure. */
int graft_lines_create(struct graft_lines **lines, struct graft_error *error);
void graft_lines_destroy(struct graft_lines *lines);

/* The next message: a line; several, where each but the last ends with a backslash; or what stands between two lines of
 * """. Replaces `text`. */
enum graft_lines_end graft_lines_read(struct graft_lines *lines, struct graft_text *text);

#endif
