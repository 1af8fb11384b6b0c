/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a report that are counted: equal texts are one row. */
#ifndef GRAFT_CLI_REPORT_ROWS_H
#define GRAFT_CLI_REPORT_ROWS_H

#include "base/text.h"
#include "plan/plan.h"

struct graft_row {
    char *text;
    size_t count;        /* how often it was added */
    size_t tensors;      /* different tensors behind it */
    unsigned char *seen; /* per tensor of the checkpoint: counted already; NULL in rows without tensors */
};

/* Starts as {0}. After a failed allocation `failed` is set. */
struct graft_rows {
    struct graft_row *items;
    size_t count;
    size_t capacity;
    int failed;
};

/* Adds a line, which is taken over and emptied, and the tensors behind it (`value` NULL: none). */
void graft_rows_add(struct graft_rows *rows, struct graft_text *text_take, const struct graft_value *value,
                    const struct graft_checkpoint *checkpoint);
void graft_rows_free(struct graft_rows *rows);

#endif
