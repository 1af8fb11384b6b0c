/* SPDX-License-Identifier: Apache-2.0 */
#include "value/value.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "value/value_parts.h"

int64_t graft_value_extent(const struct graft_value *value, int64_t from, int64_t to) {
    int64_t product = 1;
    for (int64_t i = from; i < to; i++) {
        product *= value->shape[i];
    }
    return product;
}

int graft_value_of(const struct graft_tensor_view *tensor, struct graft_value *value, struct graft_error *error) {
    *value = (struct graft_value){.rank = tensor->rank};
    if (graft_dtype_size(tensor->dtype) == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->name, "the tensor's type %s cannot be used",
                               graft_stored_dtype_name(tensor->dtype));
    }
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        value->shape[i] = i < tensor->rank ? tensor->shape[i] : 1;
    }
    int64_t count = graft_value_extent(value, 0, value->rank);
    struct graft_part all = {tensor, graft_box_run(0, 0, count)};
    return count == 0 || graft_value_add_part(value, &all) == 0 ? GRAFT_OK : graft_fail_memory(error, tensor->name);
}

int graft_value_copy(const struct graft_value *from, struct graft_value *value, struct graft_error *error) {
    *value = *from;
    value->capacity = from->n_parts;
    value->parts = graft_alloc(from->n_parts + 1, sizeof *value->parts);
    if (value->parts == NULL) {
        *value = (struct graft_value){0};
        return graft_fail_memory(error, "");
    }
    if (from->n_parts > 0) {
        memcpy(value->parts, from->parts, from->n_parts * sizeof *value->parts);
    }
    return GRAFT_OK;
}

void graft_value_free(struct graft_value *value) {
    graft_free(value->parts);
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

/* Whether the shapes agree in every dimension but `except` (-1: in every one). */
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

static int check_count(const struct graft_value *value, const char *name, struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    return graft_tensor_view_size(GRAFT_DTYPE_F64, value->rank, value->shape) >= 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, name, "the shape %s is too large",
                                 graft_shape_text(value->shape, value->rank, shape));
}

/* Concatenates the values along `dim`: a window of the result consists of one window of each value. */
static int join(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                struct graft_value *joined, struct graft_error *error) {
    int64_t width = graft_value_extent(joined, dim, joined->rank), offset = 0;
    int status = check_count(joined, name, error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        int64_t own = graft_value_extent(values[i], dim, values[i]->rank);
        status = own == 0 ? GRAFT_OK : graft_value_widen(values[i], own, width, offset, name, joined, error);
        offset += own;
    }
    if (status == GRAFT_OK) {
        graft_value_tidy(joined);
    } else {
        graft_value_free(joined);
    }
    return status;
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
        if (values[i]->shape[dim] > INT64_MAX - joined->shape[dim]) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, name, "the joined dimension is too large");
        }
        joined->shape[dim] += values[i]->shape[dim];
    }
    return join(values, n, dim, name, joined, error);
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
    return join(values, n, dim, name, stacked, error);
}

int graft_value_split(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t dim, const char *name,
                      struct graft_value *parts, struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    int64_t total = 0;
    int status = check_dim(value, dim, value->rank, name, error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        total = sizes[i] < 0 || total < 0 || sizes[i] > INT64_MAX - total ? -1 : total + sizes[i];
    }
    if (status == GRAFT_OK && total != value->shape[dim]) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, name, "the parts have %lld rows along dimension %lld of %s",
                                 (long long)total, (long long)dim, graft_shape_text(value->shape, value->rank, shape));
    }
    int64_t inner = status == GRAFT_OK ? graft_value_extent(value, dim + 1, value->rank) : 0;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        parts[i] = (struct graft_value){.rank = value->rank};
        memcpy(parts[i].shape, value->shape, sizeof value->shape);
        parts[i].shape[dim] = sizes[i];
    }
    if (status == GRAFT_OK && inner > 0 && value->n_parts > 0) {
        status = graft_value_narrow(value, sizes, n, inner, name, parts, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        graft_value_tidy(&parts[i]);
    }
    return status;
}

int graft_value_transpose(struct graft_value *value, int64_t dim0, int64_t dim1, const char *name,
                          struct graft_error *error) {
    int64_t low = dim0 < dim1 ? dim0 : dim1, high = dim0 < dim1 ? dim1 : dim0;
    int status = check_dim(value, low, value->rank, name, error);
    status = status == GRAFT_OK ? check_dim(value, high, value->rank, name, error) : status;
    if (status != GRAFT_OK || low == high) {
        return status;
    }
    const struct value_exchange exchange = {
        .first = value->shape[low],
        .middle = graft_value_extent(value, low + 1, high),
        .second = value->shape[high],
        .inner = graft_value_extent(value, high + 1, value->rank),
    };
    int64_t size = value->shape[low];
    value->shape[low] = value->shape[high];
    value->shape[high] = size;
    return value->n_parts == 0 ? GRAFT_OK : graft_value_exchange_loops(value, &exchange, name, error);
}

int graft_value_exchange(struct graft_value *value, int64_t dim, int64_t first, int64_t second, const char *name,
                         struct graft_error *error) {
    const struct value_exchange exchange = {first, 1, second, graft_value_extent(value, dim + 1, value->rank)};
    return value->n_parts == 0 ? GRAFT_OK : graft_value_exchange_loops(value, &exchange, name, error);
}

void graft_value_squeeze(struct graft_value *value, int64_t dim) {
    for (int64_t i = dim; i + 1 < GRAFT_MAX_RANK; i++) {
        value->shape[i] = value->shape[i + 1];
    }
    value->shape[GRAFT_MAX_RANK - 1] = 1;
    value->rank--;
}

void graft_value_reshape(struct graft_value *value, int32_t rank, const int64_t *shape) {
    value->rank = rank;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        value->shape[i] = i < rank ? shape[i] : 1;
    }
}
