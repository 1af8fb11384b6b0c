/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to stdout and stderr. Failing to write (a full disk, a closed pipe) is an error. */
#ifndef GRAFT_CLI_OUTPUT_H
#define GRAFT_CLI_OUTPUT_H

#include <stdio.h>

#include "base/json.h"

/* Writes a document and a line end; with `indent` 1 on many lines. */
int graft_output_json(const graft_json *document, FILE *out, int indent, struct graft_error *error);

/* Flushes a stream. It is an error if anything could not be written. */
int graft_output_flush(FILE *out, struct graft_error *error);

/* "PROGRAM: FILE: what is wrong; what to do" on stderr, on one line whatever the error holds. */
void graft_output_error(const struct graft_error *error);

/* A line of a report, whatever its arguments hold: cleaned as errors are (graft_error_clean). If memory runs out, it is
 * "?". */
void graft_output_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
