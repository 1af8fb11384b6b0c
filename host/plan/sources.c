/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

size_t graft_sources_lower_bound(const struct graft_sources *sources, const char *name) {
    size_t low = 0, high = sources->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sources->items[middle].view->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct graft_source *graft_sources_find(const struct graft_sources *sources, const char *name) {
    size_t at = graft_sources_lower_bound(sources, name);
    return at < sources->n && strcmp(sources->items[at].view->name, name) == 0 ? &sources->items[at] : NULL;
}

int graft_source_take(struct graft_source *source, struct graft_value *value, struct graft_error *error) {
    source->used = 1;
    if (source->problem != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source->view->name, "%s", source->problem);
    }
    return source->stored != NULL ? graft_value_of(source->stored, value, error)
                                  : graft_value_copy(&source->value, value, error);
}

static void source_finish(struct graft_source *source) {
    graft_value_free(&source->value);
    graft_free(source->problem);
    graft_free(source->name);
    graft_free(source->own);
}

void graft_sources_finish(struct graft_sources *sources) {
    for (size_t i = 0; i < sources->n; i++) {
        source_finish(&sources->items[i]);
    }
    graft_free(sources->items);
    graft_free(sources->converted);
    *sources = (struct graft_sources){0};
}

int graft_sources_of_checkpoint(const struct graft_checkpoint *checkpoint, struct graft_sources *sources,
                                struct graft_error *error) {
    size_t n = graft_checkpoint_count(checkpoint);
    *sources = (struct graft_sources){.items = graft_alloc(n, sizeof *sources->items), .capacity = n};
    if (sources->items == NULL) {
        return graft_fail_memory(error, "");
    }
    for (; sources->n < n; sources->n++) {
        const struct graft_tensor_view *view = graft_checkpoint_at(checkpoint, sources->n);
        sources->items[sources->n] = (struct graft_source){.view = view, .stored = view};
    }
    return GRAFT_OK;
}

/* The type of a value made of several tensors: their type, or f32 if they differ. */
static graft_dtype value_dtype(const struct graft_value *value) {
    graft_dtype dtype = value->n_parts > 0 ? value->parts[0].tensor->dtype : GRAFT_DTYPE_F32;
    for (size_t i = 1; i < value->n_parts; i++) {
        dtype = value->parts[i].tensor->dtype == dtype ? dtype : GRAFT_DTYPE_F32;
    }
    return dtype;
}

/* Makes a view for a source that is not a mapped tensor or has another name. */
static int make_view(struct graft_source *source) {
    source->own = graft_alloc(1, sizeof *source->own);
    if (source->own == NULL) {
        return -1;
    }
    if (source->stored != NULL) {
        *source->own = *source->stored;
    } else {
        source->own->dtype = value_dtype(&source->value);
        source->own->rank = source->value.rank;
        memcpy(source->own->shape, source->value.shape, sizeof source->own->shape);
        source->own->file = source->value.n_parts > 0 ? source->value.parts[0].tensor->file : "";
        source->own->bytes = source->problem != NULL
                                 ? 1 /* the size is unknown, not zero */
                                 : graft_tensor_view_size(source->own->dtype, source->own->rank, source->own->shape);
    }
    source->own->name = source->name;
    source->view = source->own;
    return 0;
}

int graft_sources_add(struct graft_sources *sources, const struct graft_tensor_view *stored, char *name_take,
                      struct graft_value *value_take, char *problem_take, struct graft_error *error) {
    struct graft_source source = {.view = stored, .stored = stored, .problem = problem_take};
    if (value_take != NULL) {
        source.value = *value_take;
        *value_take = (struct graft_value){0};
    }
    if (stored != NULL && name_take != NULL && strcmp(stored->name, name_take) == 0 && problem_take == NULL) {
        graft_free(name_take);
    } else {
        source.name = name_take;
        if (name_take == NULL || make_view(&source) != 0) {
            source_finish(&source);
            return graft_fail_memory(error, "");
        }
    }
    if (graft_grow(&sources->items, &sources->capacity, sources->n, sizeof source) != 0) {
        source_finish(&source);
        return graft_fail_memory(error, "");
    }
    sources->items[sources->n++] = source;
    return GRAFT_OK;
}

void graft_sources_attribute(struct graft_sources *sources, size_t first,
                             const struct graft_weight_transform *transform, int by_patch) {
    for (size_t i = first; i < sources->n; i++) {
        sources->items[i].transform = transform;
        sources->items[i].by_patch = by_patch;
    }
}

/* Orders sources by name. Of the same name, a tensor that is mapped under it comes first, so that the order is
 * unique. */
static int compare(const void *left, const void *right) {
    const struct graft_source *a = left, *b = right;
    int order = strcmp(a->view->name, b->view->name);
    const char *stored_a = a->stored != NULL ? a->stored->name : "",
               *stored_b = b->stored != NULL ? b->stored->name : "";
    return order != 0 ? order : strcmp(stored_a, stored_b);
}

/* Merges two sources of the same name into one with a problem, as it is not clear which one is meant. */
static int merge(struct graft_source *kept, struct graft_source *other) {
    if (kept->problem == NULL) {
        const char *a = kept->stored != NULL ? kept->stored->name : "the result of a converter";
        const char *b = other->stored != NULL ? other->stored->name : "the result of a converter";
        kept->problem = other->problem != NULL
                            ? graft_strdup(other->problem)
                            : graft_format("%s and %s both become %s, and one would be lost", a, b, kept->view->name);
    }
    source_finish(other);
    return kept->problem != NULL ? 0 : -1;
}

/* Whether the sources are sorted already, which is usual, as renaming is rare. */
static int is_sorted(const struct graft_sources *sources) {
    size_t i = 1;
    while (i < sources->n && strcmp(sources->items[i - 1].view->name, sources->items[i].view->name) < 0) {
        i++;
    }
    return i >= sources->n;
}

int graft_sources_sort(struct graft_sources *sources, struct graft_error *error) {
    size_t n = sources->n, failed = 0;
    if (is_sorted(sources)) {
        return GRAFT_OK;
    }
    qsort(sources->items, n, sizeof *sources->items, compare);
    sources->n = 1;
    for (size_t i = 1; i < n; i++) {
        struct graft_source *last = &sources->items[sources->n - 1];
        if (strcmp(last->view->name, sources->items[i].view->name) == 0) {
            failed |= merge(last, &sources->items[i]) != 0;
        } else {
            sources->items[sources->n++] = sources->items[i];
        }
    }
    return failed ? graft_fail_memory(error, "") : GRAFT_OK;
}
