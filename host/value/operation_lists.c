/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that join values or cut them. */
#include <string.h>

#include "base/alloc.h"
#include "value/operation_run.h"

/* The maximum number of values that one value is cut into, since shapes and configs are untrusted. */
enum { MAX_SHARDS = 65536 };

int graft_operation_lists_init(struct operation_lists *lists, size_t count) {
    lists->items = graft_alloc(count + 1, sizeof *lists->items);
    lists->names = graft_alloc(count + 1, sizeof *lists->names);
    if (lists->items == NULL || lists->names == NULL) {
        return -1;
    }
    lists->count = count;
    return 0;
}

void graft_operation_lists_free(struct operation_lists *lists) {
    for (size_t i = 0; i < lists->count; i++) {
        graft_value_list_free(&lists->items[i]);
    }
    graft_free(lists->items);
    graft_free(lists->names);
    *lists = (struct operation_lists){0};
}

int graft_operation_list_room(struct graft_value_list *list, size_t count) {
    list->items = graft_alloc(count + 1, sizeof *list->items);
    list->count = list->items != NULL ? count : 0;
    return list->items != NULL ? 0 : -1;
}

/* Checks that every list has a value. */
static int check_present(const struct operation_run *run, const struct operation_lists *in) {
    for (size_t i = 0; i < in->count; i++) {
        if (in->items[i].count == 0) {
            return graft_operation_failed(run, GRAFT_FAULT_SOURCE_ABSENT, "%s: there is nothing for %s",
                                          graft_operation_name(run->operation->kind), in->names[i]);
        }
    }
    return in->count > 0 ? GRAFT_OK
                         : graft_operation_failed(run, GRAFT_FAULT_SOURCE_ABSENT, "there is nothing to convert");
}

/* Checks that there is one list, of one value. */
static int check_single(const struct operation_run *run, const struct operation_lists *in) {
    if (in->count != 1) {
        return graft_operation_failed(run, GRAFT_FAULT_UNDEFINED_OPERATION, "%s takes one source, got %zu",
                                      graft_operation_name(run->operation->kind), in->count);
    }
    if (in->items[0].count != 1) {
        return graft_operation_failed(
            run, in->items[0].count == 0 ? GRAFT_FAULT_SOURCE_ABSENT : GRAFT_FAULT_SINGLE_EXPECTED,
            "%s takes one tensor, got %zu", graft_operation_name(run->operation->kind), in->items[0].count);
    }
    return GRAFT_OK;
}

/* An empty vector concatenates with any shape, as in torch. */
static int is_nothing(const struct graft_value *value) {
    return value->rank == 1 && value->shape[0] == 0;
}

/* Pointers to the values of all lists, in order; the caller frees the array. NULL if memory ran out. */
static const struct graft_value **flatten(const struct operation_lists *in, size_t *n) {
    size_t room = 0;
    for (size_t i = 0; i < in->count; i++) {
        room += in->items[i].count;
    }
    const struct graft_value **values = graft_alloc(room + 1, sizeof *values);
    *n = 0;
    for (size_t i = 0; values != NULL && i < in->count; i++) {
        for (size_t j = 0; j < in->items[i].count; j++) {
            values[*n] = &in->items[i].items[j];
            *n += !is_nothing(values[*n]);
        }
    }
    if (values != NULL && *n == 0) {
        values[(*n)++] = &in->items[0].items[0];
    }
    return values;
}

/* Checks that the shapes agree in every dimension but `dim`; -1: in every one. */
static int check_shapes(const struct operation_run *run, const struct graft_value *const *values, size_t n, int64_t dim,
                        enum graft_operation_fault fault) {
    char left[GRAFT_SHAPE_TEXT], right[GRAFT_SHAPE_TEXT];
    for (size_t i = 1; i < n; i++) {
        int ranks = values[i]->rank == values[0]->rank;
        int same = ranks;
        for (int32_t k = 0; k < values[0]->rank && same; k++) {
            same = k == dim || values[i]->shape[k] == values[0]->shape[k];
        }
        if (!same) {
            return graft_operation_failed(
                run, !ranks && fault == GRAFT_FAULT_CONCAT_SHAPE ? GRAFT_FAULT_CONCAT_RANK : fault,
                "%s: shapes %s and %s do not fit together", graft_operation_name(run->operation->kind),
                graft_shape_text(values[0]->shape, values[0]->rank, left),
                graft_shape_text(values[i]->shape, values[i]->rank, right));
        }
    }
    return GRAFT_OK;
}

int graft_operation_concatenate(const struct operation_run *run, const struct operation_lists *in,
                                struct operation_lists *out) {
    size_t n;
    int status = check_present(run, in);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_value **values = flatten(in, &n);
    if (values == NULL || graft_operation_lists_init(out, 1) != 0 ||
        graft_operation_list_room(&out->items[0], 1) != 0) {
        graft_free(values);
        return graft_operation_no_memory(run);
    }
    out->names[0] = run->operations->targets[0];
    int64_t dim = graft_operation_dim(run, run->operation->dim, values[0]);
    status = dim < 0 ? GRAFT_ERROR_MODEL : check_shapes(run, values, n, dim, GRAFT_FAULT_CONCAT_SHAPE);
    if (status == GRAFT_OK) {
        status = graft_value_concatenate(values, n, dim, run->operations->place, &out->items[0].items[0], run->error);
    }
    graft_free(values);
    return status;
}

int graft_operation_merge_modulelist(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out) {
    int status = check_present(run, in);
    if (status == GRAFT_OK && graft_operation_lists_init(out, in->count) != 0) {
        return graft_operation_no_memory(run);
    }
    for (size_t i = 0; i < in->count && status == GRAFT_OK; i++) {
        const struct graft_value_list *list = &in->items[i];
        const struct graft_value **values = graft_alloc(list->count, sizeof *values);
        if (values == NULL || graft_operation_list_room(&out->items[i], 1) != 0) {
            graft_free(values);
            return graft_operation_no_memory(run);
        }
        for (size_t j = 0; j < list->count; j++) {
            values[j] = &list->items[j];
        }
        out->names[i] = in->count == 1 ? run->operations->targets[0] : in->names[i];
        int64_t dim = run->operation->dim;
        dim += dim < 0 ? (int64_t)values[0]->rank + 1 : 0;
        status = check_shapes(run, values, list->count, -1, GRAFT_FAULT_STACK_SHAPE);
        if (status == GRAFT_OK && (dim < 0 || dim > values[0]->rank)) {
            status =
                graft_operation_failed(run, GRAFT_FAULT_DIM_OUT_OF_RANGE, "MergeModulelist: there is no dimension %lld",
                                       (long long)run->operation->dim);
        }
        if (status == GRAFT_OK) {
            status = graft_value_stack(values, list->count, dim, run->operations->place, &out->items[i].items[0],
                                       run->error);
        }
        graft_free(values);
    }
    return status;
}

/* Cuts one value into the values of a list, by sizes. */
static int cut(const struct operation_run *run, const struct graft_value *value, const int64_t *sizes, size_t n,
               int64_t dim, struct graft_value *parts) {
    char shape[GRAFT_SHAPE_TEXT];
    int64_t total = 0;
    for (size_t i = 0; i < n && total >= 0; i++) {
        total = sizes[i] < 0 || sizes[i] > INT64_MAX - total ? -1 : total + sizes[i];
    }
    if (total != value->shape[dim]) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                      "%s: the parts have %lld rows along dimension %lld of %s",
                                      graft_operation_name(run->operation->kind), (long long)total, (long long)dim,
                                      graft_shape_text(value->shape, value->rank, shape));
    }
    return graft_value_split(value, sizes, n, dim, run->operations->place, parts, run->error);
}

int graft_operation_split_modulelist(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out) {
    int status = GRAFT_OK;
    if (graft_operation_lists_init(out, in->count) != 0) {
        return graft_operation_no_memory(run);
    }
    for (size_t i = 0; i < in->count && status == GRAFT_OK; i++) {
        const struct operation_lists one = {&in->items[i], &in->names[i], 1};
        status = check_single(run, &one);
        int64_t dim = status == GRAFT_OK ? graft_operation_dim(run, run->operation->dim, &in->items[i].items[0]) : -1;
        if (dim < 0) {
            return status != GRAFT_OK ? status : GRAFT_ERROR_MODEL;
        }
        const struct graft_value *value = &in->items[i].items[0];
        if (value->shape[dim] > MAX_SHARDS) {
            return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                          "SplitModulelist would make %lld tensors, expected at most %d",
                                          (long long)value->shape[dim], (int)MAX_SHARDS);
        }
        size_t n = (size_t)value->shape[dim];
        int64_t *sizes = graft_alloc(n + 1, sizeof *sizes);
        if (sizes == NULL || graft_operation_list_room(&out->items[i], n) != 0) {
            graft_free(sizes);
            return graft_operation_no_memory(run);
        }
        for (size_t j = 0; j < n; j++) {
            sizes[j] = 1;
        }
        out->names[i] = in->count == 1 ? run->operations->targets[0] : in->names[i];
        status = cut(run, value, sizes, n, dim, out->items[i].items);
        for (size_t j = 0; j < n && status == GRAFT_OK; j++) {
            graft_value_squeeze(&out->items[i].items[j], dim);
        }
        graft_free(sizes);
    }
    return status;
}

/* How many values a Chunk makes for its one `*` target. */
static int shards(const struct operation_run *run, size_t *n) {
    const struct graft_operations *operations = run->operations;
    const char *field = run->operation->num_shards_attribute;
    int64_t number = 0;
    if (operations->n_targets != 1) {
        return graft_operation_failed(run, GRAFT_FAULT_UNDEFINED_OPERATION, "Chunk by %s takes one target, got %d",
                                      field, (int)operations->n_targets);
    }
    if (operations->config_number == NULL ||
        operations->config_number(operations->data, "text_config", field, &number) != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_NO_SUCH_ATTRIBUTE, "Chunk: the config has no number %s", field);
    }
    if (number < 1 || number > MAX_SHARDS) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES, "Chunk: %s is %lld", field, (long long)number);
    }
    *n = (size_t)number;
    return GRAFT_OK;
}

/* The sizes along `dim`: those of the targets where they are known, else equal sizes. */
static int sizes_of(const struct operation_run *run, const struct graft_value *value, int64_t dim, int64_t *sizes,
                    size_t n) {
    char text[GRAFT_SHAPE_TEXT];
    int known = run->operation->num_shards_attribute == NULL;
    for (size_t i = 0; i < n && known; i++) {
        int64_t shape[GRAFT_MAX_RANK];
        int32_t rank = graft_operation_target_shape(run, (int32_t)i, shape);
        known = dim < rank && shape[dim] >= 0;
        sizes[i] = known ? shape[dim] : 0;
        if (!known && run->operation->kind == GRAFT_OP_SPLIT) {
            return graft_operation_failed(run, GRAFT_FAULT_NO_SUCH_PARAMETER,
                                          "Split along dimension %lld has no size for %s", (long long)dim,
                                          run->operations->targets[i]);
        }
    }
    if (known) {
        return GRAFT_OK;
    }
    if (value->shape[dim] % (int64_t)n != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                      "Chunk: dimension %lld of %s does not divide by %zu", (long long)dim,
                                      graft_shape_text(value->shape, value->rank, text), n);
    }
    for (size_t i = 0; i < n; i++) {
        sizes[i] = value->shape[dim] / (int64_t)n;
    }
    return GRAFT_OK;
}

/* Chunk and Split: `n` parts, each in a list of its own, or all in one list. */
int graft_operation_cut(const struct operation_run *run, const struct operation_lists *in,
                        struct operation_lists *out) {
    size_t n = (size_t)run->operations->n_targets;
    int in_one = run->operation->kind == GRAFT_OP_CHUNK && run->operation->num_shards_attribute != NULL;
    int status = check_single(run, in);
    status = status == GRAFT_OK && in_one ? shards(run, &n) : status;
    int64_t dim = status == GRAFT_OK ? graft_operation_dim(run, run->operation->dim, &in->items[0].items[0]) : -1;
    if (dim < 0) {
        return status != GRAFT_OK ? status : GRAFT_ERROR_MODEL;
    }
    int64_t *sizes = graft_alloc(n, sizeof *sizes);
    struct graft_value_list parts = {0};
    if (sizes == NULL || graft_operation_list_room(&parts, n) != 0 ||
        graft_operation_lists_init(out, in_one ? 1 : n) != 0) {
        status = graft_operation_no_memory(run);
    }
    for (size_t i = 0; i < out->count && status == GRAFT_OK; i++) {
        out->names[i] = run->operations->targets[i];
        status =
            in_one || graft_operation_list_room(&out->items[i], 1) == 0 ? GRAFT_OK : graft_operation_no_memory(run);
    }
    if (status == GRAFT_OK) {
        status = sizes_of(run, &in->items[0].items[0], dim, sizes, n);
    }
    if (status == GRAFT_OK) {
        status = cut(run, &in->items[0].items[0], sizes, n, dim, parts.items);
    }
    if (status == GRAFT_OK && in_one) {
        out->items[0] = parts;
        parts = (struct graft_value_list){0};
    }
    for (size_t i = 0; i < n && status == GRAFT_OK && !in_one; i++) {
        out->items[i].items[0] = parts.items[i];
        parts.items[i] = (struct graft_value){0};
    }
    graft_value_list_free(&parts);
    graft_free(sizes);
    return status;
}

int graft_operation_custom(const struct operation_run *run, const struct operation_lists *in,
                           struct operation_lists *out) {
    const struct graft_operations *operations = run->operations;
    size_t n_targets = (size_t)operations->n_targets;
    for (size_t i = 0; i < in->count; i++) {
        const struct operation_lists one = {&in->items[i], &in->names[i], 1};
        int status = check_single(run, &one);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    if (operations->custom == NULL || run->operation->custom == NULL) {
        return graft_operation_failed(run, GRAFT_FAULT_CUSTOM, "there are no custom operations here");
    }
    const struct graft_value **values = graft_alloc(in->count + 1, sizeof *values);
    struct graft_value *results = graft_alloc(n_targets, sizeof *results);
    int status = values != NULL && results != NULL && graft_operation_lists_init(out, n_targets) == 0
                     ? GRAFT_OK
                     : graft_operation_no_memory(run);
    for (size_t i = 0; i < out->count && status == GRAFT_OK; i++) {
        out->names[i] = operations->targets[i];
        status = graft_operation_list_room(&out->items[i], 1) == 0 ? GRAFT_OK : graft_operation_no_memory(run);
    }
    for (size_t i = 0; i < in->count && status == GRAFT_OK; i++) {
        values[i] = &in->items[i].items[0];
    }
    if (status == GRAFT_OK) {
        status = operations->custom(operations->data, run->operation, values, in->count, results, run->error);
        if (status != GRAFT_OK && run->fault != NULL && *run->fault == GRAFT_FAULT_NONE) {
            *run->fault = GRAFT_FAULT_CUSTOM;
        }
    }
    for (size_t i = 0; i < n_targets && status == GRAFT_OK; i++) {
        out->items[i].items[0] = results[i];
    }
    graft_free(values);
    graft_free(results);
    return status;
}
