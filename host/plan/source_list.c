/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint through a list: names first, then the converters' groups. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/source_group.h"

struct pass {
    const struct source_context *context;
    struct graft_sources *sources;
    struct key_state *states; /* [list->n] */
    struct source_groups groups;
};

static int is_known(void *data, const char *name) {
    const struct source_context *context = data;
    int64_t shape[GRAFT_MAX_RANK];
    return context->shape(context->data, name, shape) >= 0;
}

/* Whether a model has a name, with the base prefix or without it. */
static int is_parameter(const struct source_context *context, const char *name, int *parameter) {
    char *adjusted;
    if (graft_key_adjust_prefix(context->prefix, name, is_known, (void *)(uintptr_t)context, &adjusted) != 0) {
        return -1;
    }
    *parameter = adjusted != NULL || is_known((void *)(uintptr_t)context, name);
    graft_free(adjusted);
    return 0;
}

/* A name that the list leads away from the model, and that is in it as it was, was not meant: a layout that is the
 * model's already. */
static int was_meant(const struct source_context *context, const char *name, const struct key_result *result,
                     int *meant) {
    int before = 0, after = 0;
    int forced = (result->renaming >= 0 && (size_t)result->renaming < context->n_forced) ||
                 (result->converter >= 0 && (size_t)result->converter < context->n_forced);
    *meant = 1;
    if (forced) {
        return 0;
    }
    if (result->converter < 0 && strcmp(result->name, name) == 0) {
        return 0;
    }
    if (is_parameter(context, result->name, &after) != 0 || is_parameter(context, name, &before) != 0) {
        return -1;
    }
    *meant = after || !before;
    return 0;
}

/* Whether the converter takes the tensor: only numbers are indices. */
static int is_taken(const struct key_list *list, const struct key_result *result) {
    return result->converter >= 0 &&
           graft_key_transform_index(list->items[result->converter], result->source, result->before) != -1;
}

static int add_renamed(struct pass *pass, const struct graft_tensor_view *view, const struct key_result *result,
                       struct graft_error *error) {
    const struct source_context *context = pass->context;
    int meant;
    if (was_meant(context, view->name, result, &meant) != 0) {
        return graft_fail_memory(error, view->name);
    }
    if (meant && is_taken(context->list, result)) {
        pass->sources->converted[graft_checkpoint_lower_bound(context->checkpoint, view->name)] = 1;
        return graft_source_groups_add(&pass->groups, context->list, view, result, error);
    }
    const char *name = !meant ? view->name : result->converter >= 0 ? result->before : result->name;
    return graft_sources_add(pass->sources, view, graft_strdup(name), NULL, NULL, error);
}

static int add_tensor(struct pass *pass, const struct graft_tensor_view *view, struct graft_error *error) {
    struct key_result result;
    int status = graft_key_list_rename(pass->context->list, pass->states, 0, view->name, &result, NULL, error);
    if (status == GRAFT_OK) {
        status = add_renamed(pass, view, &result, error);
        graft_key_result_finish(&result);
    }
    return status;
}

static int compare_views(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return graft_key_order((*a)->name, (*b)->name);
}

/* Whether it makes a difference in which order names are gone through. */
static int needs_order(const struct key_list *list) {
    int needs = 0;
    for (size_t i = 0; i < list->n; i++) {
        needs |= list->items[i]->given->kind == GRAFT_TRANSFORM_GROUP_RENAME ||
                 list->items[i]->given->kind == GRAFT_TRANSFORM_CONVERTER;
    }
    return needs;
}

/* The tensors in the order that a list goes through names. */
static const struct graft_tensor_view **in_order(const struct graft_checkpoint *checkpoint,
                                                 const struct key_list *list) {
    size_t n = graft_checkpoint_count(checkpoint);
    const struct graft_tensor_view **views = graft_alloc(n + 1, sizeof(struct graft_tensor_view *));
    for (size_t i = 0; views != NULL && i < n; i++) {
        views[i] = graft_checkpoint_at(checkpoint, i);
    }
    if (views != NULL && n > 0 && needs_order(list)) {
        qsort(views, n, sizeof *views, compare_views);
    }
    return views;
}

int graft_sources_convert(const struct source_context *context, struct graft_sources *sources,
                          struct graft_error *error) {
    size_t n = graft_checkpoint_count(context->checkpoint);
    const struct graft_tensor_view **views = in_order(context->checkpoint, context->list);
    struct pass pass = {context, sources, graft_alloc(context->list->n, sizeof *pass.states), {0}};
    *sources = (struct graft_sources){.converted = graft_alloc(n + 1, 1)};
    int status =
        views != NULL && pass.states != NULL && sources->converted != NULL ? GRAFT_OK : graft_fail_memory(error, "");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = add_tensor(&pass, views[i], error);
    }
    for (size_t i = 0; i < pass.groups.n && status == GRAFT_OK; i++) {
        status = graft_source_group_convert(context, &pass.groups.items[i], sources, error);
    }
    if (status == GRAFT_OK) {
        status = graft_sources_sort(sources, error);
    }
    graft_source_groups_finish(&pass.groups);
    graft_free(pass.states);
    graft_free(views);
    return status;
}
