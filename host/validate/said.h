/* SPDX-License-Identifier: Apache-2.0 */
/* Captures what a check's process writes to stderr: a plugin's output, and the reports of sanitizers. */
#ifndef GRAFT_VALIDATE_SAID_H
#define GRAFT_VALIDATE_SAID_H

#include <stddef.h>

enum { GRAFT_SAID_BYTES = 4096 };

struct graft_said {
    int file;                    /* a file in memory; -1: nothing is captured */
    char text[GRAFT_SAID_BYTES]; /* the first captured lines, without control characters */
    char summary[1000]; /* the line in which a sanitizer sums up what it found, likewise; "" if there is none */
};

/* Creates the file. */
void graft_said_init(struct graft_said *said);

/* In the check's process: redirects stderr to the file, and stdin and stdout to /dev/null. */
void graft_said_redirect(const struct graft_said *said);

/* During the check: truncates the file if it grows too large. */
void graft_said_limit(const struct graft_said *said);

/* After the check: reads the file into `text` and `summary`, and empties it. */
void graft_said_take(struct graft_said *said);

void graft_said_finish(struct graft_said *said);

#endif
