/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gather.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

int graft_gathered_add(struct gathered *gathered, int64_t index, const struct graft_tensor_view *view,
                       struct graft_error *error) {
    if (graft_grow(&gathered->items, &gathered->capacity, gathered->n, sizeof *gathered->items) != 0) {
        return graft_fail_memory(error, view->name);
    }
    gathered->items[gathered->n] = (struct gathered_tensor){index >= 0 ? index : (int64_t)gathered->n, view};
    gathered->n++;
    return GRAFT_OK;
}

static int by_index(const void *left, const void *right) {
    const struct gathered_tensor *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static int take(const struct gathered_tensor *tensor, int64_t index, struct graft_sources *sources,
                struct graft_value *value, struct graft_error *error) {
    const struct graft_tensor_view *view = tensor->view;
    char shape[GRAFT_SHAPE_TEXT];
    if (tensor->index != index) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, view->name,
                               "index %lld, expected %lld: indices must run from 0 without gap or repetition",
                               (long long)tensor->index, (long long)index);
    }
    if (view->bytes == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, view->name, "it is empty: its shape is %s",
                               graft_shape_text(view->shape, view->rank, shape));
    }
    return sources != NULL && view->absent == NULL
               ? graft_source_take(graft_sources_find(sources, view->name), value, error)
               : graft_value_of(view, value, error);
}

int graft_gathered_values(struct gathered *gathered, struct graft_sources *sources, struct graft_value_list *list,
                          struct graft_error *error) {
    int status = GRAFT_OK;
    list->items = graft_alloc(gathered->n, sizeof *list->items);
    if (list->items == NULL) {
        return graft_fail_memory(error, "");
    }
    if (gathered->n > 0) {
        qsort(gathered->items, gathered->n, sizeof *gathered->items, by_index);
    }
    for (size_t i = 0; i < gathered->n && status == GRAFT_OK; i++) {
        status = take(&gathered->items[i], (int64_t)i, sources, &list->items[i], error);
        list->count += status == GRAFT_OK;
    }
    return status;
}
