/* SPDX-License-Identifier: Apache-2.0 */
#include "transform/value.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static int out_of_memory(const char *name, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "out of memory");
}

/* Product of dimensions [from, to). */
static int64_t extent(const struct graft_value *value, int64_t from, int64_t to) {
    int64_t product = 1;
    for (int64_t i = from; i < to; i++) {
        product *= value->shape[i];
    }
    return product;
}

/* Adds a run, as part of the last one where it continues that. */
static int append_run(struct graft_value *value, const struct graft_run *run) {
    struct graft_run *last = value->n_runs > 0 ? &value->runs[value->n_runs - 1] : NULL;
    if (last != NULL && last->tensor == run->tensor && last->begin + last->count == run->begin) {
        last->count += run->count;
        return 0;
    }
    if (graft_grow(&value->runs, &value->capacity, value->n_runs, sizeof *value->runs) != 0) {
        return -1;
    }
    value->runs[value->n_runs++] = *run;
    return 0;
}

/* Reads a value's elements in order. */
struct reader {
    const struct graft_value *value;
    size_t run;
    int64_t offset; /* in that run */
};

/* Moves the next `count` elements behind those of `to`. */
static int take(struct reader *reader, int64_t count, struct graft_value *to) {
    while (count > 0) {
        const struct graft_run *run = &reader->value->runs[reader->run];
        int64_t left = run->count - reader->offset;
        int64_t taken = left < count ? left : count;
        struct graft_run part = {run->tensor, run->begin + reader->offset, taken};
        if (append_run(to, &part) != 0) {
            return -1;
        }
        count -= taken;
        reader->offset += taken;
        if (reader->offset == run->count) {
            reader->run++;
            reader->offset = 0;
        }
    }
    return 0;
}

int graft_value_of(const struct graft_tensor_view *tensor, struct graft_value *value, struct graft_error *error) {
    struct graft_run all = {tensor, 0, 1};
    *value = (struct graft_value){.rank = tensor->rank};
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        value->shape[i] = i < tensor->rank ? tensor->shape[i] : 1;
        all.count *= value->shape[i];
    }
    return all.count == 0 || append_run(value, &all) == 0 ? GRAFT_OK : out_of_memory(tensor->name, error);
}

int graft_value_copy(const struct graft_value *from, struct graft_value *value, struct graft_error *error) {
    *value = *from;
    value->capacity = from->n_runs;
    value->runs = graft_alloc(from->n_runs + 1, sizeof *value->runs);
    if (value->runs == NULL) {
        *value = (struct graft_value){0};
        return out_of_memory("", error);
    }
    memcpy(value->runs, from->runs, from->n_runs * sizeof *value->runs);
    return GRAFT_OK;
}

void graft_value_free(struct graft_value *value) {
    graft_free(value->runs);
    *value = (struct graft_value){0};
}

void graft_value_list_free(struct graft_value_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        graft_value_free(&list->items[i]);
    }
    graft_free(list->items);
    *list = (struct graft_value_list){0};
}

const char *graft_shape_text(const int64_t *shape, int32_t rank, char *text) {
    size_t length = 0;
    text[length++] = '[';
    for (int32_t i = 0; i < rank && i < GRAFT_MAX_RANK; i++) {
        length += (size_t)snprintf(text + length, 23, "%s%lld", i > 0 ? ", " : "", (long long)shape[i]);
    }
    text[length++] = ']';
    text[length] = '\0';
    return text;
}

static int check_dim(const struct graft_value *value, int64_t dim, int64_t rank, const char *name,
                     struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    if (dim >= 0 && dim < rank) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, name, "dimension %lld is outside the shape %s", (long long)dim,
                           graft_shape_text(value->shape, value->rank, shape));
}

static int differ(const struct graft_value *a, const struct graft_value *b, const char *name,
                  struct graft_error *error) {
    char left[GRAFT_SHAPE_TEXT], right[GRAFT_SHAPE_TEXT];
    return graft_error_set(error, GRAFT_ERROR_MODEL, name, "shapes %s and %s do not fit together",
                           graft_shape_text(a->shape, a->rank, left), graft_shape_text(b->shape, b->rank, right));
}

/* Whether the shapes agree in every dimension but `except` (-1: in all). */
static int agree(const struct graft_value *a, const struct graft_value *b, int64_t except) {
    if (a->rank != b->rank) {
        return 0;
    }
    for (int32_t i = 0; i < a->rank; i++) {
        if (i != except && a->shape[i] != b->shape[i]) {
            return 0;
        }
    }
    return 1;
}

/* Interleaves the values: for each of `outer` steps the next inner[i] elements of each value i. */
static int weave(const struct graft_value *const *values, size_t n, int64_t dim, struct graft_value *result) {
    struct reader *readers = graft_alloc(n + 1, sizeof *readers);
    int failed = readers == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        readers[i].value = values[i];
    }
    for (int64_t step = 0; !failed && step < extent(values[0], 0, dim); step++) {
        for (size_t i = 0; i < n && !failed; i++) {
            failed = take(&readers[i], extent(values[i], dim, values[i]->rank), result) != 0;
        }
    }
    graft_free(readers);
    return failed ? -1 : 0;
}

int graft_value_concatenate(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                            struct graft_value *joined, struct graft_error *error) {
    int status = check_dim(values[0], dim, values[0]->rank, name, error);
    if (status != GRAFT_OK) {
        return status;
    }
    *joined = (struct graft_value){.rank = values[0]->rank};
    memcpy(joined->shape, values[0]->shape, sizeof joined->shape);
    for (size_t i = 1; i < n; i++) {
        if (!agree(values[0], values[i], dim)) {
            return differ(values[0], values[i], name, error);
        }
        joined->shape[dim] += values[i]->shape[dim];
    }
    return weave(values, n, dim, joined) == 0 ? GRAFT_OK : out_of_memory(name, error);
}

int graft_value_stack(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                      struct graft_value *stacked, struct graft_error *error) {
    int status = check_dim(values[0], dim, (int64_t)values[0]->rank + 1, name, error);
    if (status == GRAFT_OK && values[0]->rank == GRAFT_MAX_RANK) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, name, "more than %d dimensions", GRAFT_MAX_RANK);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    *stacked = (struct graft_value){.rank = values[0]->rank + 1};
    for (int32_t i = 0; i < stacked->rank; i++) {
        stacked->shape[i] = i == dim ? (int64_t)n : values[0]->shape[i < dim ? i : i - 1];
    }
    for (int32_t i = stacked->rank; i < GRAFT_MAX_RANK; i++) {
        stacked->shape[i] = 1;
    }
    for (size_t i = 1; i < n; i++) {
        if (!agree(values[0], values[i], -1)) {
            return differ(values[0], values[i], name, error);
        }
    }
    return weave(values, n, dim, stacked) == 0 ? GRAFT_OK : out_of_memory(name, error);
}

int graft_value_split(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t dim, const char *name,
                      struct graft_value *parts, struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    int64_t total = 0;
    int status = check_dim(value, dim, value->rank, name, error);
    for (size_t i = 0; i < n; i++) {
        total += sizes[i];
    }
    if (status == GRAFT_OK && total != value->shape[dim]) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, name, "the parts have %lld rows along dimension %lld of %s",
                                 (long long)total, (long long)dim, graft_shape_text(value->shape, value->rank, shape));
    }
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        parts[i] = (struct graft_value){.rank = value->rank};
        memcpy(parts[i].shape, value->shape, sizeof value->shape);
        parts[i].shape[dim] = sizes[i];
    }
    struct reader reader = {value, 0, 0};
    for (int64_t step = 0; step < extent(value, 0, dim); step++) {
        for (size_t i = 0; i < n; i++) {
            if (take(&reader, extent(&parts[i], dim, value->rank), &parts[i]) != 0) {
                return out_of_memory(name, error);
            }
        }
    }
    return GRAFT_OK;
}

void graft_value_squeeze(struct graft_value *value, int64_t dim) {
    for (int64_t i = dim; i + 1 < GRAFT_MAX_RANK; i++) {
        value->shape[i] = value->shape[i + 1];
    }
    value->shape[GRAFT_MAX_RANK - 1] = 1;
    value->rank--;
}
