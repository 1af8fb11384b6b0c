/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a report with counts: equal texts share a row. */
#ifndef GRAFT_CLI_REPORT_ROWS_H
#define GRAFT_CLI_REPORT_ROWS_H

#include <stdio.h>

#include "base/text.h"
#include "graft/host/plan.h"

struct graft_row {
    char *text;
    size_t count;         /* how often it was added */
    const char **sources; /* [n_sources] names of the tensors or modules behind it, as they came */
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

/* Adds a line, which is taken over and emptied, and the tensors behind it (`parameter` NULL: none), which outlive the
 * rows. */
void graft_rows_add(struct graft_rows *rows, struct graft_text *text_take,
                    const struct graft_planned_parameter *parameter);

/* The same with `n` names of tensors or modules, which outlive the rows. */
void graft_rows_add_names(struct graft_rows *rows, struct graft_text *text_take, const char *const *names, size_t n);

/* How many different tensors are behind a row: one may be behind several parameters. */
size_t graft_row_count_tensors(struct graft_row *row);

/* Prints the names of the row, which are paths of modules, in few words. */
void graft_row_print_paths(FILE *out, const struct graft_row *row);

void graft_rows_free(struct graft_rows *rows);

#endif
