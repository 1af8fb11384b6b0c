/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a list to a checkpoint: renames first, then runs the uses of converters. */
#include "plan/source_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"
#include "plan/source_use.h"

struct pass {
    struct graft_plan *plan;
    struct graft_tree *tree;
    const struct graft_plan_options *options;
    struct key_state *states; /* [list->n] */
    struct source_uses uses;
};

static int is_parameter(const struct pass *pass, const char *name) {
    char spelled[GRAFT_NAME_BYTES];
    return graft_name_in_model(pass->options->base_model_prefix, name, graft_plan_has_parameter, pass->tree, spelled);
}

/* Whether a transform (-1: none) is forced, so that it also applies to names that the model knows, as those of a patch
 * do. */
static int is_forced(const struct pass *pass, int64_t transform) {
    return transform >= 0 && (size_t)transform < pass->options->n_forced;
}

/* Whether a renaming applies: not if the model has the old name and lacks the new one, as the checkpoint then has the
 * model's layout already. */
static int was_meant(const struct pass *pass, const char *name, const struct key_result *result) {
    int forced = is_forced(pass, result->renaming) || is_forced(pass, result->converter);
    int same = result->converter < 0 && strcmp(result->name, name) == 0;
    return forced || same || is_parameter(pass, result->name) || !is_parameter(pass, name);
}

/* Whether the converter takes the tensor, for which its `*` has to match a number. */
static int is_taken(const struct key_list *list, const struct key_result *result) {
    return result->converter >= 0 &&
           graft_key_transform_index(list->items[result->converter], result->source, result->before) != -1;
}

static int add_renamed(struct pass *pass, const struct graft_tensor_view *view, const struct key_result *result,
                       struct graft_error *error) {
    const struct key_list *list = pass->options->transforms;
    struct graft_plan *plan = pass->plan;
    int meant = was_meant(pass, view->name, result);
    if (meant && is_taken(list, result)) {
        plan->sources->converted[graft_checkpoint_lower_bound(plan->checkpoint, view->name)] = 1;
        return graft_source_uses_add(&pass->uses, list->items[result->converter], is_forced(pass, result->converter),
                                     view, result, error);
    }
    const char *name = !meant ? view->name : result->converter >= 0 ? result->before : result->name;
    size_t first = plan->sources->n;
    int status = graft_sources_add(plan->sources, view, graft_strdup(name), NULL, NULL, error);
    if (status == GRAFT_OK && result->renaming >= 0 && strcmp(name, view->name) != 0) {
        graft_sources_attribute(plan->sources, first, list->items[result->renaming]->given,
                                is_forced(pass, result->renaming));
    }
    return status;
}

static int add_tensor(struct pass *pass, const struct graft_tensor_view *view, struct graft_error *error) {
    struct key_result result;
    int status = graft_key_list_rename(pass->options->transforms, pass->states, view->name, &result, NULL, error);
    if (status == GRAFT_OK) {
        pass->plan->sources->is_changed |= result.renaming >= 0 || result.converter >= 0;
        status = add_renamed(pass, view, &result, error);
        graft_key_result_finish(&result);
    }
    return status;
}

static int compare_views(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return graft_key_order((*a)->name, (*b)->name);
}

/* Whether the order of the names makes a difference to the list. */
static int needs_order(const struct key_list *list) {
    int needs = 0;
    for (size_t i = 0; i < list->n; i++) {
        needs |= list->items[i]->given->kind == GRAFT_TRANSFORM_GROUP_RENAME ||
                 list->items[i]->given->kind == GRAFT_TRANSFORM_CONVERTER;
    }
    return needs;
}

/* The tensors in the order in which a list visits names. */
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

static int convert(struct pass *pass, struct graft_error *error) {
    const struct graft_checkpoint *checkpoint = pass->plan->checkpoint;
    size_t n = graft_checkpoint_count(checkpoint);
    const struct graft_tensor_view **views = in_order(checkpoint, pass->options->transforms);
    pass->states = graft_alloc(pass->options->transforms->n, sizeof *pass->states);
    pass->plan->sources->converted = graft_alloc(n + 1, 1);
    int allocated = views != NULL && pass->states != NULL && pass->plan->sources->converted != NULL;
    int status = allocated ? GRAFT_OK : graft_fail_memory(error, "");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = add_tensor(pass, views[i], error);
    }
    for (size_t i = 0; pass->options->used != NULL && status == GRAFT_OK && i < pass->options->n_forced; i++) {
        pass->options->used[i] = pass->states[i].used;
    }
    if (status == GRAFT_OK) {
        status = graft_source_uses_convert(&pass->uses, error);
    }
    if (status == GRAFT_OK) {
        status = graft_sources_sort(pass->plan->sources, error);
    }
    graft_source_uses_finish(&pass->uses);
    graft_free(pass->states);
    graft_free(views);
    return status;
}

/* Adds the adapters' tensors after the checkpoint's. Lists do not apply to them. */
static int add_adapters(struct graft_sources *sources, const struct graft_adapters *adapters,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < adapters->n; i++) {
        for (size_t k = 0; k < adapters->items[i].n_tensors && status == GRAFT_OK; k++) {
            const struct graft_tensor_view *tensor = &adapters->items[i].tensors[k];
            status = graft_sources_add(sources, tensor, graft_strdup(tensor->name), NULL, NULL, error);
        }
    }
    return status == GRAFT_OK ? graft_sources_sort(sources, error) : status;
}

static int make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                struct graft_error *error) {
    if (options->transforms == NULL || options->transforms->n == 0) {
        return graft_sources_of_checkpoint(plan->checkpoint, plan->sources, error);
    }
    struct pass pass = {plan, tree, options, NULL, {.plan = plan, .tree = tree, .prefix = options->base_model_prefix}};
    return convert(&pass, error);
}

int graft_plan_sources_make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                            struct graft_error *error) {
    int status = make(plan, tree, options, error);
    return status == GRAFT_OK && options->adapters != NULL ? add_adapters(plan->sources, options->adapters, error)
                                                           : status;
}
