/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a conversion, each from lists of values to lists of values. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "transform/convert.h"

/* The lists an operation is given, and room for those it makes. */
struct lists {
    struct graft_value_list *items;
    size_t count;
};

static void lists_free(struct lists *lists) {
    for (size_t i = 0; i < lists->count; i++) {
        graft_value_list_free(&lists->items[i]);
    }
    graft_free(lists->items);
    *lists = (struct lists){0};
}

static int out_of_memory(const char *name, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "out of memory");
}

/* `count` empty lists, with room for `each` values in every one. */
static int lists_init(struct lists *lists, size_t count, size_t each) {
    lists->items = graft_alloc(count + 1, sizeof *lists->items);
    if (lists->items == NULL) {
        return -1;
    }
    for (; lists->count < count; lists->count++) {
        lists->items[lists->count].items = graft_alloc(each + 1, sizeof(struct graft_value));
        if (lists->items[lists->count].items == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Pointers to all values of all lists, in order; the caller frees them. NULL when memory ran out. */
static const struct graft_value **flatten(const struct lists *in, size_t *n) {
    *n = 0;
    for (size_t i = 0; i < in->count; i++) {
        *n += in->items[i].count;
    }
    const struct graft_value **values = graft_alloc(*n + 1, sizeof *values);
    for (size_t i = 0, at = 0; values != NULL && i < in->count; i++) {
        for (size_t j = 0; j < in->items[i].count; j++) {
            values[at++] = &in->items[i].items[j];
        }
    }
    return values;
}

static int concatenate(const struct lists *in, int64_t dim, const char *name, struct lists *out,
                       struct graft_error *error) {
    size_t n;
    const struct graft_value **values = flatten(in, &n);
    if (values == NULL || lists_init(out, 1, 1) != 0) {
        graft_free(values);
        return out_of_memory(name, error);
    }
    out->items[0].count = 1;
    int status = graft_value_concatenate(values, n, dim, name, &out->items[0].items[0], error);
    graft_free(values);
    return status;
}

static int merge_modulelist(const struct lists *in, int64_t dim, const char *name, struct lists *out,
                            struct graft_error *error) {
    if (lists_init(out, in->count, 1) != 0) {
        return out_of_memory(name, error);
    }
    for (size_t i = 0; i < in->count; i++) {
        struct lists one = {&in->items[i], 1};
        size_t n;
        const struct graft_value **values = flatten(&one, &n);
        if (values == NULL) {
            return out_of_memory(name, error);
        }
        out->items[i].count = 1;
        int status = graft_value_stack(values, n, dim, name, &out->items[i].items[0], error);
        graft_free(values);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

static int single(const struct graft_value_list *list, const char *operation, const char *name,
                  struct graft_error *error) {
    if (list->count == 1) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, name, "%s takes one tensor, got %zu", operation, list->count);
}

static int split_modulelist(const struct lists *in, int64_t dim, const char *name, struct lists *out,
                            struct graft_error *error) {
    int status = GRAFT_OK;
    if (lists_init(out, in->count, 0) != 0) {
        return out_of_memory(name, error);
    }
    for (size_t i = 0; i < in->count && status == GRAFT_OK; i++) {
        status = single(&in->items[i], "SplitModulelist", name, error);
        const struct graft_value *value = &in->items[i].items[0];
        int64_t n = status == GRAFT_OK && dim < value->rank ? value->shape[dim] : 0;
        int64_t *sizes = graft_alloc((size_t)n + 1, sizeof *sizes);
        struct graft_value *parts = graft_realloc(out->items[i].items, (size_t)n + 1, sizeof *parts);
        if (parts != NULL) {
            memset(parts, 0, ((size_t)n + 1) * sizeof *parts);
            out->items[i] = (struct graft_value_list){parts, (size_t)n};
        }
        for (int64_t j = 0; sizes != NULL && j < n; j++) {
            sizes[j] = 1;
        }
        if (sizes == NULL || parts == NULL) {
            status = out_of_memory(name, error);
        }
        if (status == GRAFT_OK) {
            status = graft_value_split(value, sizes, (size_t)n, dim, name, parts, error);
        }
        for (int64_t j = 0; status == GRAFT_OK && j < n; j++) {
            graft_value_squeeze(&parts[j], dim);
        }
        graft_free(sizes);
    }
    return status;
}

static int chunk(const struct lists *in, const struct chunk_sizes *sizes, int32_t op, int64_t dim, const char *name,
                 struct lists *out, struct graft_error *error) {
    size_t n = (size_t)sizes->site->conversion->n_targets;
    int64_t *each = graft_alloc(n, sizeof *each);
    struct graft_value *parts = graft_alloc(n, sizeof *parts);
    int status = in->count == 1 ? single(&in->items[0], "Chunk", name, error)
                                : graft_error_set(error, GRAFT_ERROR_MODEL, name, "Chunk takes one tensor");
    if (each == NULL || parts == NULL || lists_init(out, n, 1) != 0) {
        status = out_of_memory(name, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (sizes->size(sizes->site, (int32_t)i, op, &each[i]) != 0) {
            status = graft_error_set(error, GRAFT_ERROR_PLUGIN, name, "Chunk along dimension %lld has no size for %s",
                                     (long long)dim, sizes->site->conversion->targets[i]);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_value_split(&in->items[0].items[0], each, n, dim, name, parts, error);
        for (size_t i = 0; i < n; i++) {
            out->items[i].items[0] = parts[i];
            out->items[i].count = 1;
        }
    }
    graft_free(each);
    graft_free(parts);
    return status;
}

static int run_one(const struct conversion_site *site, const struct chunk_sizes *sizes, int32_t op,
                   const struct lists *in, struct lists *out, struct graft_error *error) {
    const struct graft_operation *operation = graft_conversion_operation(site->conversion, op);
    const char *name = site->node->path;
    switch (operation->kind) {
    case GRAFT_OP_CONCATENATE:
        return concatenate(in, operation->dim, name, out, error);
    case GRAFT_OP_CHUNK:
        return chunk(in, sizes, op, operation->dim, name, out, error);
    case GRAFT_OP_MERGE_MODULELIST:
        return merge_modulelist(in, operation->dim, name, out, error);
    case GRAFT_OP_SPLIT_MODULELIST:
        return split_modulelist(in, operation->dim, name, out, error);
    default:
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, name, "there is no operation %d", (int)operation->kind);
    }
}

int operations_run(const struct conversion_site *site, const struct chunk_sizes *sizes, struct graft_value_list **lists,
                   size_t *n_lists, struct graft_error *error) {
    struct lists now = {*lists, *n_lists};
    int status = GRAFT_OK;
    for (int32_t op = 0; op < site->conversion->n_operations && status == GRAFT_OK; op++) {
        struct lists next = {0};
        status = run_one(site, sizes, op, &now, &next, error);
        lists_free(&now);
        now = next;
    }
    *lists = now.items;
    *n_lists = now.count;
    return status;
}

static const char *operation_name(int32_t kind) {
    switch (kind) {
    case GRAFT_OP_CONCATENATE:
        return "Concatenate";
    case GRAFT_OP_CHUNK:
        return "Chunk";
    case GRAFT_OP_MERGE_MODULELIST:
        return "MergeModulelist";
    case GRAFT_OP_SPLIT_MODULELIST:
        return "SplitModulelist";
    default:
        return "?";
    }
}

void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_conversion *conversion = binding->conversion;
    for (int32_t i = 0; conversion != NULL && i < conversion->n_operations; i++) {
        const struct graft_operation *operation = graft_conversion_operation(conversion, i);
        graft_text_printf(text, "%s%s(dim=%lld)", i > 0 ? ", " : "", operation_name(operation->kind),
                          (long long)operation->dim);
    }
    if (conversion != NULL && conversion->n_operations == 0) {
        graft_text_add_string(text, "renamed");
    }
}
