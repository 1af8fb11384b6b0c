/* SPDX-License-Identifier: Apache-2.0 */
#include "library/lists.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/legacy.h"
#include "plugin/family_file.h"
#include "registry/conversions.h"
#include "registry/families.h"

/* Transforms that are being collected; their scopes are strings of the tree. */
struct collection {
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    struct graft_tree *tree;
    const struct graft_family *family;
    const struct graft_load_patch *patch;
    const char *prefix;
    struct renamings renamings; /* the names that classes give to modules in checkpoints */
    char **scopes;              /* module paths after these renamings */
    size_t n_scopes;
    size_t scopes_capacity;
};

static int add(struct collection *all, const struct graft_weight_transform *transform, const char *scope) {
    if (graft_grow(&all->items, &all->capacity, all->n, sizeof *all->items) != 0) {
        return -1;
    }
    struct graft_weight_transform *added = &all->items[all->n++];
    graft_struct_copy(added, sizeof *added, transform);
    if (scope != NULL && added->scope_prefix == NULL) {
        added->scope_prefix = scope;
        added->base_model_prefix = all->prefix;
    }
    return 0;
}

static int add_all(struct collection *all, const struct graft_weight_transform *transforms, size_t n, const char *scope,
                   struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (add(all, graft_struct_at(transforms, i), scope) != 0) {
            return graft_fail_memory(error, "conversions");
        }
    }
    return GRAFT_OK;
}

/* The name of a module's class before replacement. */
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

/* The part of a path after the base model's prefix. */
static const char *scope_of(const struct collection *all, const char *path) {
    size_t length = strlen(all->prefix);
    if (length > 0 && strncmp(path, all->prefix, length) == 0 && (path[length] == '.' || path[length] == '\0')) {
        path += length + (path[length] == '.');
    }
    return path;
}

/* If a class renames modules, adds a transform under the names that they have in checkpoints, too. */
static int add_renamed(struct collection *all, const struct graft_node *node,
                       const struct graft_weight_transform *transform, struct graft_error *error) {
    char renamed[GRAFT_NAME_BYTES];
    if (graft_renamings_apply(&all->renamings, node->path, renamed) == NULL) {
        return GRAFT_OK;
    }
    char *scope = graft_strdup(renamed);
    if (scope == NULL || graft_grow(&all->scopes, &all->scopes_capacity, all->n_scopes, sizeof(char *)) != 0) {
        graft_free(scope);
        return graft_fail_memory(error, "conversions");
    }
    all->scopes[all->n_scopes++] = scope;
    return add_all(all, transform, 1, scope_of(all, scope), error);
}

/* Adds a transform for the names below a module. */
static int add_at(struct collection *all, const struct graft_node *node, const struct graft_weight_transform *transform,
                  struct graft_error *error) {
    int status = add_all(all, transform, 1, node->parent == NULL ? NULL : scope_of(all, node->path), error);
    return status == GRAFT_OK && node->parent != NULL ? add_renamed(all, node, transform, error) : status;
}

static const struct conversion_list *list_of(const struct collection *all, const char *name) {
    return graft_snapshot_conversions(all->tree->snapshot, name);
}

/* The list of the model type, which is used if the root's class has none. */
static const struct conversion_list *list_of_type(const struct collection *all) {
    const struct graft_tree *tree = all->tree;
    return list_of(all, class_of(tree->root)) == NULL ? list_of(all, tree->config->model_type) : NULL;
}

/* A transform in the list of module `owner` that applies to the modules of its scope_class. */
struct scoped {
    struct collection *all;
    const struct graft_node *owner;
    const struct graft_weight_transform *transform;
};

static int add_scoped(void *data, struct graft_node *node, struct graft_error *error) {
    struct scoped *scoped = data;
    const struct graft_node *above = node;
    while (above != NULL && above != scoped->owner) {
        above = above->parent;
    }
    if (above == NULL || node->below_super || strcmp(class_of(node), scoped->transform->scope_class) != 0) {
        return GRAFT_OK;
    }
    return add_at(scoped->all, node, scoped->transform, error);
}

static int add_list(struct collection *all, const struct graft_node *node, const struct conversion_list *list,
                    struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < list->n && status == GRAFT_OK; i++) {
        struct scoped scoped = {all, node, &list->transforms[i]};
        status = list->transforms[i].scope_class != NULL ? graft_tree_walk(all->tree, add_scoped, &scoped, error)
                                                         : add_at(all, node, &list->transforms[i], error);
    }
    return status;
}

/* Whether the load patch or a fusion chose the module's class. */
static int is_of_load(const struct collection *all, const struct graft_node *node) {
    for (size_t i = 0; i < all->patch->n_classes; i++) {
        const struct graft_patch *element = graft_struct_at(all->patch->classes, i);
        if (element->replacement == node->described_by->cls) {
            return 1;
        }
    }
    return node->described_by->args != NULL;
}

/* Whether a list replaces the conversions of the module's class. */
static int is_converted(const struct collection *all, const struct graft_node *node) {
    if (node->described_by == NULL || is_of_load(all, node)) {
        return 0;
    }
    const struct conversion_list *own = list_of(all, node->described_by->cls->name);
    const struct conversion_list *type = list_of_type(all);
    return (own != NULL && !own->adds) ||
           (type != NULL && !type->adds && graft_family_find_class(all->family, class_of(node)) != NULL);
}

static int mark(void *data, struct graft_node *node, struct graft_error *error) {
    (void)error;
    node->is_converted = is_converted(data, node);
    return GRAFT_OK;
}

static int add_module(void *data, struct graft_node *node, struct graft_error *error) {
    struct collection *all = data;
    const struct conversion_list *list =
        node->described_by != NULL ? list_of(all, node->described_by->cls->name) : NULL;
    if (list == NULL) {
        list = list_of(all, class_of(node));
    }
    if (list == NULL && node->parent == NULL && node->wrapper == NULL) {
        list = list_of_type(all);
    }
    if (list == NULL || node->below_super || is_below_same_class(node)) {
        return GRAFT_OK;
    }
    return add_list(all, node, list, error);
}

/* Refuses scopes in a load patch, which has no list whose modules they could select. */
static int check_scopes(const struct graft_load_patch *patch, struct graft_error *error) {
    for (size_t i = 0; i < patch->n_conversions; i++) {
        const struct graft_weight_transform *transform = &patch->conversions[i];
        if (transform->scope_class != NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "patch",
                                   "conversions[%zu].scope_class: expected NULL: only registered lists have it", i);
        }
    }
    return GRAFT_OK;
}

static int compile_filter(const struct graft_load_patch *patch, struct conversion_filter *filter,
                          struct graft_error *error) {
    int status = GRAFT_OK;
    filter->patterns = graft_alloc(patch->n_without, sizeof(struct graft_regex *));
    filter->texts = graft_alloc(patch->n_without, sizeof(char *));
    filter->used = graft_alloc(patch->n_without, sizeof *filter->used);
    if (filter->patterns == NULL || filter->texts == NULL || filter->used == NULL) {
        return graft_fail_memory(error, "without");
    }
    for (size_t i = 0; i < patch->n_without && status == GRAFT_OK; i++) {
        const char *pattern = patch->without[i];
        status = pattern == NULL ? graft_error_set(error, GRAFT_ERROR_USAGE, "without", "expected a string, got NULL")
                                 : graft_regex_compile(pattern, strlen(pattern), "without", GRAFT_ERROR_USAGE,
                                                       &filter->patterns[i], error);
        if (status == GRAFT_OK) {
            filter->texts[filter->n++] = graft_strdup(pattern);
            status = filter->texts[i] != NULL ? GRAFT_OK : graft_fail_memory(error, "without");
        }
    }
    return status;
}

static int is_left_out(const struct key_transform *transform, const struct conversion_filter *filter) {
    int hit = 0;
    for (int32_t i = 0; i < transform->patterns.n_sources; i++) {
        hit |= graft_conversion_filter_hits(filter, transform->patterns.sources[i]);
    }
    for (int32_t i = 0; i < transform->patterns.n_targets; i++) {
        hit |= graft_conversion_filter_hits(filter, transform->patterns.targets[i]);
    }
    return hit;
}

/* Removes the transforms that match the filter from [first, end) of a list. */
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

/* Adds the registered lists. It must be known which classes' conversions they replace before the classes' renamings are
 * collected. Usually no list is registered. */
static int add_registered(struct collection *all, struct graft_error *error) {
    if (!graft_snapshot_has_conversions(all->tree->snapshot)) {
        return GRAFT_OK;
    }
    int status = graft_tree_walk(all->tree, mark, all, error);
    if (status == GRAFT_OK) {
        status = graft_renamings_collect(all->tree, &all->renamings, error);
    }
    return status == GRAFT_OK ? graft_tree_walk(all->tree, add_module, all, error) : status;
}

static void finish(struct collection *all) {
    for (size_t i = 0; i < all->n_scopes; i++) {
        graft_free(all->scopes[i]);
    }
    graft_free(all->scopes);
    graft_renamings_free(&all->renamings);
    graft_free(all->items);
}

int graft_model_lists_make(struct graft_tree *tree, const struct graft_load_patch *patch,
                           const struct graft_family *family, struct graft_model_lists *lists,
                           struct graft_error *error) {
    static const struct graft_load_patch none = {.struct_size = sizeof none};
    const struct graft_load_patch *given = patch != NULL ? patch : &none;
    struct collection all = {.tree = tree, .family = family, .patch = given, .prefix = graft_family_prefix(family)};
    size_t n_legacy, n_registered = 0;
    const struct graft_weight_transform *legacy = graft_legacy_transforms(&n_legacy);
    *lists = (struct graft_model_lists){.n_forced = given->n_conversions,
                                        .layout_patched = given->n_conversions > 0 || given->n_without > 0,
                                        .is_fixed = !graft_snapshot_has_conversions(tree->snapshot)};
    int status = check_scopes(given, error);
    if (status == GRAFT_OK) {
        status = add_all(&all, given->conversions, given->n_conversions, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = add_registered(&all, error);
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
    if (status == GRAFT_OK && (lists->used = graft_alloc(given->n_conversions, sizeof *lists->used)) == NULL) {
        status = graft_fail_memory(error, "conversions");
    }
    if (status == GRAFT_OK) {
        leave_out(&lists->transforms, given->n_conversions, n_registered, &lists->without);
    }
    finish(&all);
    return status;
}

void graft_model_lists_finish(struct graft_model_lists *lists) {
    graft_key_list_finish(&lists->transforms);
    for (size_t i = 0; i < lists->without.n; i++) {
        graft_regex_free(lists->without.patterns[i]);
        graft_free(lists->without.texts[i]);
    }
    graft_free(lists->without.patterns);
    graft_free(lists->without.texts);
    graft_free(lists->without.used);
    graft_free(lists->used);
    *lists = (struct graft_model_lists){0};
}
