/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to stdout and stderr. A stream that cannot be written (a full disk, a closed pipe) is an error, not silence.
 */
#ifndef GRAFT_CLI_OUTPUT_H
#define GRAFT_CLI_OUTPUT_H

#include <stdio.h>

#include "base/json.h"

/* A document and a line end; `indent` 1 spreads it over lines. */
int graft_output_json(const graft_json *document, FILE *out, int indent, struct graft_error *error);

/* Flushes, and tells whether everything was written. */
int graft_output_flush(FILE *out, struct graft_error *error);

/* "PROGRAM: FILE: what is wrong; what to do" on stderr, on one line whatever the error holds. */
void graft_output_error(const struct graft_error *error);

/* A line of a report, whatever its arguments hold: cleaned as errors are (graft_error_clean). Without memory it is "?".
 */
void graft_output_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
