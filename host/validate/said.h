/* SPDX-License-Identifier: Apache-2.0 */
/* What a check's process writes to stderr: what a plugin prints, and above all the reports of sanitizers. */
#ifndef GRAFT_VALIDATE_SAID_H
#define GRAFT_VALIDATE_SAID_H

#include <stddef.h>

enum { GRAFT_SAID_BYTES = 4096 };

struct graft_said {
    int file;                    /* in memory; -1: nothing is kept */
    char text[GRAFT_SAID_BYTES]; /* what was read: lines without control characters */
};

/* Makes the file. */
void graft_said_init(struct graft_said *said);

/* In the process of the check: stderr goes there from now on, stdin and stdout nowhere. */
void graft_said_redirect(const struct graft_said *said);

/* While it runs: keeps what is in the file within bounds. */
void graft_said_limit(const struct graft_said *said);

/* After the check: reads the beginning into `text`, and empties the file. */
void graft_said_take(struct graft_said *said);

/* The line of `text` in which a sanitizer says what it found, copied as far as there is room; returns 0 if there is
 * none. */
int graft_said_sanitizer(const struct graft_said *said, char *line, size_t size);

void graft_said_finish(struct graft_said *said);

#endif
