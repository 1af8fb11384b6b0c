/* SPDX-License-Identifier: Apache-2.0 */
/* One use of a converter: its tensors through its operations, to sources under its targets' names. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/source_group.h"
#include "value/operations.h"

struct use {
    const struct source_context *context;
    const struct source_group *group;
    char **names; /* [n_targets]: full names; a `*` may be in them */
};

static int32_t n_targets(const struct use *use) {
    return use->group->converter->patterns.n_targets;
}

/* A name with its `*`, if it has one, replaced by an index. */
static char *indexed_name(const char *name, size_t index) {
    const char *star = strchr(name, '*');
    return star != NULL ? graft_format("%.*s%zu%s", (int)(star - name), name, index, star + 1) : graft_strdup(name);
}

static int is_known(void *data, const char *name) {
    const struct source_context *context = data;
    int64_t shape[GRAFT_MAX_RANK];
    return context->shape(context->data, name, shape) >= 0;
}

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct use *use = data;
    const struct source_context *context = use->context;
    char *name = indexed_name(use->names[target], 0), *adjusted = NULL;
    int32_t rank = -1;
    if (name != NULL &&
        graft_key_adjust_prefix(context->prefix, name, is_known, (void *)(uintptr_t)context, &adjusted) == 0) {
        rank = context->shape(context->data, adjusted != NULL ? adjusted : name, shape);
    }
    graft_free(adjusted);
    graft_free(name);
    return rank;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct use *use = data;
    const struct source_context *context = use->context;
    return context->config_number != NULL ? context->config_number(context->data, part, field, number) : -1;
}

static int apply_custom(void *data, const struct graft_operation *operation, const struct graft_value *const *values,
                        size_t n, struct graft_value *results, struct graft_error *error) {
    const struct use *use = data;
    const struct source_context *context = use->context;
    return context->custom != NULL
               ? context->custom(context->data, operation, "", values, n, results, (size_t)n_targets(use), error)
               : graft_fail(error, GRAFT_ERROR_PLUGIN, use->group->name, "custom operations cannot be used here");
}

static int compare_indexed(const void *left, const void *right) {
    const struct source_indexed *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* The values of one source pattern. Indices must run from 0: a gap would shift all behind it. */
static int gather(const struct source_taken *taken, struct graft_value_list *list, struct graft_error *error) {
    int status = GRAFT_OK;
    list->items = graft_alloc(taken->n, sizeof *list->items);
    if (list->items == NULL) {
        return graft_fail_memory(error, "");
    }
    if (taken->n > 0) {
        qsort(taken->items, taken->n, sizeof *taken->items, compare_indexed);
    }
    for (size_t i = 0; i < taken->n && status == GRAFT_OK; i++) {
        const struct graft_tensor_view *view = taken->items[i].view;
        if (taken->items[i].index != (int64_t)i) {
            status = graft_fail(error, GRAFT_ERROR_MODEL, view->name,
                                "index %lld, expected %zu: indices must run from 0 without gap or repetition",
                                (long long)taken->items[i].index, i);
        } else if (view->bytes == 0) {
            status = graft_fail(error, GRAFT_ERROR_MODEL, view->name, "there is nothing in it");
        } else {
            status = graft_value_of(view, &list->items[i], error);
            list->count += status == GRAFT_OK;
        }
    }
    return status;
}

static int run(const struct use *use, struct graft_value_list **lists, size_t *n, struct graft_error *error) {
    const struct key_transform *converter = use->group->converter;
    const struct graft_weight_transform *given = converter->given;
    const struct graft_operations operations = {
        .items = given->operations,
        .count = given->n_operations,
        .stride = given->operation_stride,
        .place = use->group->name,
        .sources = (const char *const *)converter->patterns.sources,
        .targets = (const char *const *)converter->patterns.targets,
        .n_targets = n_targets(use),
        .data = (void *)(uintptr_t)use,
        .target_shape = target_shape,
        .config_number = config_number,
        .custom = apply_custom,
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < *n && status == GRAFT_OK; i++) {
        status = gather(&use->group->taken[i], &(*lists)[i], error);
    }
    return status == GRAFT_OK ? graft_operations_run(&operations, lists, n, NULL, error) : status;
}

static int add_results(const struct use *use, struct graft_value_list *lists, struct graft_sources *sources,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n_targets(use) && status == GRAFT_OK; i++) {
        for (size_t k = 0; k < lists[i].count && status == GRAFT_OK; k++) {
            status =
                strchr(use->names[i], '*') == NULL && lists[i].count != 1
                    ? graft_fail(error, GRAFT_ERROR_MODEL, use->names[i], "got %zu values for one name", lists[i].count)
                    : graft_sources_add(sources, NULL, indexed_name(use->names[i], k), &lists[i].items[k], NULL, error);
        }
    }
    return status;
}

/* What cannot be converted is a problem of what it was to become. */
static int add_problem(const struct use *use, const struct graft_error *failure, struct graft_sources *sources,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n_targets(use) && status == GRAFT_OK; i++) {
        char *problem = graft_format("%s: %s", failure->source, failure->message);
        char *name = indexed_name(use->names[i], 0);
        if (problem == NULL || name == NULL) {
            graft_free(problem);
            graft_free(name);
            return graft_fail_memory(error, use->names[i]);
        }
        status = graft_sources_add(sources, NULL, name, NULL, problem, error);
    }
    return status;
}

static int convert(const struct use *use, struct graft_sources *sources, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    size_t n = (size_t)use->group->converter->patterns.n_sources;
    struct graft_value_list *lists = graft_alloc(n, sizeof *lists);
    if (lists == NULL) {
        return graft_fail_memory(error, use->group->name);
    }
    int status = run(use, &lists, &n, &failure);
    if (status == GRAFT_OK) {
        status = add_results(use, lists, sources, error);
    } else if (status != GRAFT_ERROR_INTERNAL) {
        status = add_problem(use, &failure, sources, error);
    } else {
        (void)graft_fail(error, status, failure.source, "%s", failure.message);
    }
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
    return status;
}

int graft_source_group_convert(const struct source_context *context, const struct source_group *group,
                               struct graft_sources *sources, struct graft_error *error) {
    int32_t n = group->converter->patterns.n_targets;
    struct use use = {context, group, graft_alloc((size_t)n, sizeof(char *))};
    int status = use.names != NULL ? GRAFT_OK : graft_fail_memory(error, group->name);
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_key_transform_target(group->converter, group->before, i, &use.names[i], error);
    }
    if (status == GRAFT_OK) {
        status = convert(&use, sources, error);
    }
    for (int32_t i = 0; use.names != NULL && i < n; i++) {
        graft_free(use.names[i]);
    }
    graft_free(use.names);
    return status;
}
