/* SPDX-License-Identifier: Apache-2.0 */
#include "library/lists.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/legacy.h"
#include "registry/conversions.h"

/* Descriptions put together; scopes are the tree's strings. */
struct collection {
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    struct graft_tree *tree;
    const char *prefix;
};

static int add(struct collection *all, const struct graft_weight_transform *transform, const char *scope) {
    if (graft_grow(&all->items, &all->capacity, all->n, sizeof *all->items) != 0) {
        return -1;
    }
    struct graft_weight_transform *added = &all->items[all->n++];
    *added = *transform;
    if (scope != NULL && added->scope_prefix == NULL) {
        added->scope_prefix = scope;
        added->base_model_prefix = all->prefix;
    }
    return 0;
}

static int add_all(struct collection *all, const struct graft_weight_transform *transforms, size_t n, const char *scope,
                   struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (add(all, &transforms[i], scope) != 0) {
            return graft_fail_memory(error, "conversions");
        }
    }
    return GRAFT_OK;
}

/* The name that a model's config gives a module's class, whatever replaced it. */
static const char *class_of(const struct graft_node *node) {
    return node->original != NULL ? node->original->cls->name : node->class_name;
}

static int is_below_same_class(const struct graft_node *node) {
    for (const struct graft_node *above = node->parent; above != NULL; above = above->parent) {
        if (strcmp(class_of(above), class_of(node)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A module's path behind the base model's prefix. */
static const char *scope_of(const struct collection *all, const struct graft_node *node) {
    size_t length = strlen(all->prefix);
    const char *path = node->path;
    if (length > 0 && strncmp(path, all->prefix, length) == 0 && (path[length] == '.' || path[length] == '\0')) {
        path += length + (path[length] == '.');
    }
    return path;
}

static int add_module(void *data, struct graft_node *node, struct graft_error *error) {
    struct collection *all = data;
    const struct conversion_list *list = graft_snapshot_conversions(all->tree->snapshot, class_of(node));
    if (list == NULL && node->parent == NULL && !node->is_super) {
        list = graft_snapshot_conversions(all->tree->snapshot, all->tree->config->model_type);
    }
    if (list == NULL || node->below_super || is_below_same_class(node)) {
        return GRAFT_OK;
    }
    return add_all(all, list->transforms, list->n, node->parent == NULL ? NULL : scope_of(all, node), error);
}

static int compile_filter(const struct graft_load_patch *patch, struct conversion_filter *filter,
                          struct graft_error *error) {
    int status = GRAFT_OK;
    filter->patterns = graft_alloc(patch->n_without, sizeof(struct graft_regex *));
    if (filter->patterns == NULL) {
        return graft_fail_memory(error, "without");
    }
    for (size_t i = 0; i < patch->n_without && status == GRAFT_OK; i++) {
        const char *pattern = patch->without[i];
        status = pattern == NULL ? graft_fail(error, GRAFT_ERROR_USAGE, "without", "expected a string, got NULL")
                                 : graft_regex_compile(pattern, strlen(pattern), "without", GRAFT_ERROR_USAGE,
                                                       &filter->patterns[i], error);
        filter->n += status == GRAFT_OK;
    }
    return status;
}

static int is_left_out(const struct key_transform *transform, const struct conversion_filter *filter) {
    int hit = 0;
    for (int32_t i = 0; i < transform->patterns.n_targets && !hit; i++) {
        hit = graft_conversion_filter_hits(filter, transform->patterns.targets[i]);
    }
    return hit;
}

/* Takes what the filter hits out of [first, end) of a list. */
static void leave_out(struct key_list *list, size_t first, size_t end, const struct conversion_filter *filter) {
    size_t kept = first;
    for (size_t i = first; i < list->n; i++) {
        if (i < end && is_left_out(list->items[i], filter)) {
            graft_key_transform_free(list->items[i]);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->n = kept;
}

int graft_model_lists_make(struct graft_tree *tree, const struct graft_load_patch *patch, const char *base_model_prefix,
                           struct graft_model_lists *lists, struct graft_error *error) {
    static const struct graft_load_patch none = {.struct_size = sizeof none};
    const struct graft_load_patch *given = patch != NULL ? patch : &none;
    struct collection all = {.tree = tree, .prefix = base_model_prefix};
    size_t n_legacy, n_registered = 0;
    const struct graft_weight_transform *legacy = graft_legacy_transforms(&n_legacy);
    *lists = (struct graft_model_lists){.n_forced = given->n_conversions,
                                        .relaid = given->n_conversions > 0 || given->n_without > 0};
    int status = add_all(&all, given->conversions, given->n_conversions, NULL, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, add_module, &all, error);
        n_registered = all.n;
    }
    if (status == GRAFT_OK) {
        status = add_all(&all, legacy, n_legacy, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_key_list_init(&lists->transforms, all.items, all.n, "conversions", NULL, error);
    }
    if (status == GRAFT_OK) {
        status = compile_filter(given, &lists->without, error);
    }
    if (status == GRAFT_OK) {
        leave_out(&lists->transforms, given->n_conversions, n_registered, &lists->without);
    }
    graft_free(all.items);
    return status;
}

void graft_model_lists_finish(struct graft_model_lists *lists) {
    graft_key_list_finish(&lists->transforms);
    for (size_t i = 0; i < lists->without.n; i++) {
        graft_regex_free(lists->without.patterns[i]);
    }
    graft_free(lists->without.patterns);
    *lists = (struct graft_model_lists){0};
}
