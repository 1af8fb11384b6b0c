/* SPDX-License-Identifier: Apache-2.0 */
/* Counts equal lines of a report: they share a row. */
#ifndef GRAFT_CLI_REPORT_ROWS_H
#define GRAFT_CLI_REPORT_ROWS_H

#include <stdio.h>

#include "base/text.h"
#include "graft/host/plan.h"

struct graft_row {
    char *text;
    size_t count;         /* how often it was added */
    const char **sources; /* [n_sources] names of tensors or modules that the line is about, in order */
    size_t n_sources;
    size_t sources_capacity;
};

/* Starts as {0}. After a failed allocation `failed` is set. */
struct graft_rows {
    struct graft_row *items;
    size_t count;
    size_t capacity;
    int failed;
};

/* Adds a line, whose text is moved into the rows, and the tensors of `parameter` (or NULL), whose names must outlive
 * the rows. */
void graft_rows_add(struct graft_rows *rows, struct graft_text *text_take,
                    const struct graft_planned_parameter *parameter);

/* Adds `n` names of tensors or modules, which must outlive the rows. */
void graft_rows_add_names(struct graft_rows *rows, struct graft_text *text_take, const char *const *names, size_t n);

/* The number of different tensors of a row; a tensor may belong to several parameters. */
size_t graft_row_count_tensors(struct graft_row *row);

/* Prints the names of a row, which are paths of modules, briefly (base/paths.h). */
void graft_row_print_paths(FILE *out, const struct graft_row *row);

void graft_rows_free(struct graft_rows *rows);

#endif
