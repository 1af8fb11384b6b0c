/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/text.h"

/* Finds or adds the row of a text. NULL if memory ran out. */
static struct graft_row *find(struct graft_rows *rows, struct graft_text *text_take) {
    if (!text_take->failed) {
        graft_error_clean(text_take->bytes);
    }
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

static void add_sources(struct graft_rows *rows, struct graft_row *row, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (graft_grow(&row->sources, &row->sources_capacity, row->n_sources, sizeof *row->sources) != 0) {
            rows->failed = 1;
            return;
        }
        row->sources[row->n_sources++] = names[i];
    }
}

void graft_rows_add_names(struct graft_rows *rows, struct graft_text *text_take, const char *const *names, size_t n) {
    struct graft_row *row = find(rows, text_take);
    if (row == NULL) {
        rows->failed = 1;
        return;
    }
    row->count++;
    add_sources(rows, row, names, n);
}

void graft_rows_add(struct graft_rows *rows, struct graft_text *text_take,
                    const struct graft_planned_parameter *parameter) {
    graft_rows_add_names(rows, text_take, parameter != NULL ? parameter->sources : NULL,
                         parameter != NULL ? parameter->n_sources : 0);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t graft_row_count_tensors(struct graft_row *row) {
    size_t tensors = 0;
    if (row->n_sources > 0) {
        qsort(row->sources, row->n_sources, sizeof *row->sources, by_name);
    }
    for (size_t i = 0; i < row->n_sources; i++) {
        tensors += i == 0 || strcmp(row->sources[i], row->sources[i - 1]) != 0;
    }
    return tensors;
}

void graft_row_print_paths(FILE *out, const struct graft_row *row) {
    struct graft_text text = {0};
    graft_text_add_paths(&text, row->sources, row->n_sources);
    (void)fprintf(out, "%s", text.failed || text.length == 0 ? "" : text.bytes);
    graft_text_free(&text);
}

void graft_rows_free(struct graft_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        graft_free(rows->items[i].text);
        graft_free(rows->items[i].sources);
    }
    graft_free(rows->items);
    *rows = (struct graft_rows){0};
}
