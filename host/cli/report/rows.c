/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/rows.h"

#include <string.h>

#include "base/alloc.h"

/* The row of that text, made when there is none yet; NULL when memory ran out. */
static struct graft_row *find(struct graft_rows *rows, struct graft_text *text_take) {
    for (size_t i = 0; i < rows->count && !text_take->failed; i++) {
        if (strcmp(rows->items[i].text, text_take->bytes) == 0) {
            graft_text_free(text_take);
            return &rows->items[i];
        }
    }
    if (text_take->failed || graft_grow(&rows->items, &rows->capacity, rows->count, sizeof *rows->items) != 0) {
        graft_text_free(text_take);
        return NULL;
    }
    rows->items[rows->count] = (struct graft_row){.text = text_take->bytes};
    *text_take = (struct graft_text){0};
    return &rows->items[rows->count++];
}

/* A tensor may lie behind several parameters, and in several runs of one: it counts once. */
static int count_tensors(struct graft_row *row, const struct graft_value *value,
                         const struct graft_checkpoint *checkpoint) {
    if (row->seen == NULL) {
        row->seen = graft_alloc(graft_checkpoint_count(checkpoint), 1);
    }
    for (size_t i = 0; row->seen != NULL && i < value->n_parts; i++) {
        size_t at = graft_checkpoint_lower_bound(checkpoint, value->parts[i].tensor->name);
        row->tensors += !row->seen[at];
        row->seen[at] = 1;
    }
    return row->seen != NULL ? 0 : -1;
}

void graft_rows_add(struct graft_rows *rows, struct graft_text *text_take, const struct graft_value *value,
                    const struct graft_checkpoint *checkpoint) {
    struct graft_row *row = find(rows, text_take);
    if (row == NULL || (value != NULL && count_tensors(row, value, checkpoint) != 0)) {
        rows->failed = 1;
        return;
    }
    row->count++;
}

void graft_rows_free(struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        graft_free(rows->items[i].text);
        graft_free(rows->items[i].seen);
    }
    graft_free(rows->items);
    *rows = (struct graft_rows){0};
}
