/* SPDX-License-Identifier: Apache-2.0 */
/* Operations with several sources and several targets: experts of two kinds in one list, as in Ernie 4.5 VL. */
#include "base/alloc.h"
#include "value/operation_run.h"

/* Runs another operation on lists, along `dim`. */
static int run_along(const struct operation_run *run, int32_t kind, int64_t dim,
                     int (*operation)(const struct operation_run *run, const struct operation_lists *in,
                                      struct operation_lists *out),
                     const struct operation_lists *in, struct operation_lists *out) {
    const struct graft_operation along = {.struct_size = sizeof along, .kind = kind, .dim = dim};
    struct operation_run inner = *run;
    inner.operation = &along;
    return operation(&inner, in, out);
}

/* Allocates an empty list for each target. */
static int init_targets(const struct operation_run *run, struct operation_lists *out) {
    size_t n = (size_t)run->operations->n_targets;
    if (graft_operation_lists_init(out, n) != 0) {
        return graft_operation_no_memory(run);
    }
    for (size_t t = 0; t < n; t++) {
        out->names[t] = run->operations->targets[t];
    }
    return GRAFT_OK;
}

/* Borrows group `t` of each source's values. */
static int group(const struct operation_run *run, const struct operation_lists *in, size_t t,
                 struct graft_value_list *groups) {
    const size_t n_targets = (size_t)run->operations->n_targets;
    for (size_t i = 0; i < in->count; i++) {
        const struct graft_value_list *list = &in->items[i];
        const size_t size = (list->count + n_targets - 1) / n_targets;
        if (t * size >= list->count) {
            return graft_operation_failed(
                run, GRAFT_FAULT_SPLIT_SIZES, "%s: %zu tensors of %s are too few for %zu targets",
                graft_operation_name(run->operation->kind), list->count, in->names[i], n_targets);
        }
        groups[i] = (struct graft_value_list){
            .items = list->items + t * size,
            .count = list->count - t * size < size ? list->count - t * size : size,
        };
    }
    return GRAFT_OK;
}

int graft_operation_fuse_experts(const struct operation_run *run, const struct operation_lists *in,
                                 struct operation_lists *out) {
    struct graft_value_list *groups = graft_alloc(in->count + 1, sizeof *groups);
    int status = groups != NULL ? init_targets(run, out) : graft_operation_no_memory(run);
    for (size_t t = 0; t < out->count && status == GRAFT_OK; t++) {
        const struct operation_lists one = {groups, in->names, in->count};
        struct operation_lists stacked = {0}, joined = {0};
        status = group(run, in, t, groups);
        if (status == GRAFT_OK) {
            status = run_along(run, GRAFT_OP_MERGE_MODULELIST, run->operation->dim, graft_operation_merge_modulelist,
                               &one, &stacked);
        }
        if (status == GRAFT_OK) {
            status = run_along(run, GRAFT_OP_CONCATENATE, run->operation->dim1, graft_operation_concatenate, &stacked,
                               &joined);
        }
        if (status == GRAFT_OK) {
            out->items[t] = joined.items[0];
            joined.items[0] = (struct graft_value_list){0};
        }
        graft_operation_lists_free(&stacked);
        graft_operation_lists_free(&joined);
    }
    graft_free(groups);
    return status;
}

/* Cuts one source into equal pieces along `dim1`, one for each target. */
static int cut_equally(const struct operation_run *run, const struct operation_lists *in, size_t i, int64_t *sizes,
                       struct graft_value *pieces) {
    const size_t n = (size_t)run->operations->n_targets;
    const struct graft_value *value = in->items[i].count == 1 ? &in->items[i].items[0] : NULL;
    char shape[GRAFT_SHAPE_TEXT];
    if (value == NULL) {
        return graft_operation_failed(run,
                                      in->items[i].count == 0 ? GRAFT_FAULT_SOURCE_ABSENT : GRAFT_FAULT_SINGLE_EXPECTED,
                                      "%s takes one tensor of %s, got %zu", graft_operation_name(run->operation->kind),
                                      in->names[i], in->items[i].count);
    }
    const int64_t dim = graft_operation_dim(run, run->operation->dim1, value);
    if (dim < 0) {
        return GRAFT_ERROR_MODEL;
    }
    if (value->shape[dim] % (int64_t)n != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES, "%s: dimension %lld of %s does not divide by %zu",
                                      graft_operation_name(run->operation->kind), (long long)dim,
                                      graft_shape_text(value->shape, value->rank, shape), n);
    }
    for (size_t t = 0; t < n; t++) {
        sizes[t] = value->shape[dim] / (int64_t)n;
    }
    return graft_value_split(value, sizes, n, dim, run->operations->place, pieces, run->error);
}

/* Moves the values of `more` to the end of `list`. */
static int append(const struct operation_run *run, struct graft_value_list *list, struct graft_value_list *more) {
    struct graft_value_list all = {0};
    if (graft_operation_list_room(&all, list->count + more->count) != 0) {
        return graft_operation_no_memory(run);
    }
    for (size_t k = 0; k < all.count; k++) {
        struct graft_value *from = k < list->count ? &list->items[k] : &more->items[k - list->count];
        all.items[k] = *from;
        *from = (struct graft_value){0};
    }
    graft_value_list_free(list);
    *list = all;
    return GRAFT_OK;
}

int graft_operation_decouple_experts(const struct operation_run *run, const struct operation_lists *in,
                                     struct operation_lists *out) {
    const size_t n = (size_t)run->operations->n_targets;
    int64_t *sizes = graft_alloc(n, sizeof *sizes);
    struct graft_value *pieces = graft_alloc(n, sizeof *pieces);
    int status = sizes != NULL && pieces != NULL ? init_targets(run, out) : graft_operation_no_memory(run);
    for (size_t i = 0; i < in->count && status == GRAFT_OK; i++) {
        status = cut_equally(run, in, i, sizes, pieces);
        for (size_t t = 0; t < n; t++) {
            struct graft_value_list piece = {.items = &pieces[t], .count = 1};
            const struct operation_lists one = {&piece, &in->names[i], 1};
            struct operation_lists apart = {0};
            if (status == GRAFT_OK) {
                status = run_along(run, GRAFT_OP_SPLIT_MODULELIST, run->operation->dim,
                                   graft_operation_split_modulelist, &one, &apart);
            }
            if (status == GRAFT_OK) {
                status = append(run, &out->items[t], &apart.items[0]);
            }
            graft_operation_lists_free(&apart);
            graft_value_free(&pieces[t]);
            pieces[t] = (struct graft_value){0};
        }
    }
    graft_free(sizes);
    graft_free(pieces);
    return status;
}
