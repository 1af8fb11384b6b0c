/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers fusions by a call, like transformers: classes go to the mapping, transforms to the model type's list of
 * conversions. Either everything is registered or nothing.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "model/fusion.h"
#include "registry/conversions.h"
#include "registry/fusion_transforms.h"
#include "registry/mapping.h"

/* The registration of one family for one model. */
struct registration {
    struct graft_registry *registry;
    const struct graft_tree_options *options;
    const struct graft_fusion_choice *choice;
    const struct graft_fused_modules *fused;
};

/* The new list of the model type. Its patterns belong to the old list and to the added transforms. */
struct list {
    struct graft_weight_transform *items;
    size_t n;
};

static const char *name_of(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static int same_patterns(const char *const *a, int32_t n_a, const char *const *b, int32_t n_b) {
    for (int32_t i = 0; i < n_a && n_a == n_b; i++) {
        if (strcmp(a[i], b[i]) != 0) {
            return 0;
        }
    }
    return n_a == n_b;
}

/* Sets the error that the list has a different transform of the same source. */
static int conflict(const struct registration *registration, const struct graft_weight_transform *mine,
                    struct graft_error *error) {
    int status =
        graft_error_set(error, GRAFT_ERROR_USAGE, registration->options->config->model_type,
                        "fusion %s: its transform of \"%s\" collides with one that is registered for the same source",
                        graft_fusion_family_of(registration->choice->known)->name, mine->source_patterns[0]);
    graft_error_hint(error, "register only one of them");
    return status;
}

/* Appends a transform of the family, and removes the same one of an earlier registration. */
static int add_transform(const struct registration *registration, const struct graft_weight_transform *mine,
                         struct list *list, struct graft_error *error) {
    for (size_t i = 0; i < list->n; i++) {
        const struct graft_weight_transform *other = &list->items[i];
        if (!same_patterns(other->source_patterns, other->n_sources, mine->source_patterns, mine->n_sources)) {
            continue;
        }
        if (other->kind != mine->kind ||
            !same_patterns(other->target_patterns, other->n_targets, mine->target_patterns, mine->n_targets)) {
            return conflict(registration, mine, error);
        }
        memmove(&list->items[i], &list->items[i + 1], (list->n - i - 1) * sizeof *list->items);
        list->n--;
        break;
    }
    list->items[list->n++] = *mine;
    return GRAFT_OK;
}

/* Makes the transforms for modules called `name`, with sizes from the config or, if the config lacks some, from the
 * first such module. */
static int make_transforms(const struct registration *registration, const struct graft_candidate *first,
                           struct graft_fusion_transforms *made, struct graft_error *error) {
    const struct graft_config *config = &registration->options->config->view;
    struct graft_error cause = graft_error_none();
    struct graft_tree_options plain = *registration->options;
    struct graft_tree *tree = NULL;
    graft_json *none = graft_json_new_object();
    const graft_json *given = registration->choice->options != NULL ? registration->choice->options : none;
    const struct graft_config options = graft_config_view(given, config->file);
    const char *name = name_of(first->path);
    plain.without_replacements = 1;
    if (none == NULL) {
        return graft_fail_memory(error, name);
    }
    int status = graft_fusion_transforms_make(registration->choice->known, name, config, &options, NULL, made, &cause);
    if (status != GRAFT_OK) {
        graft_fusion_transforms_finish(made);
        *made = (struct graft_fusion_transforms){0};
        status = graft_tree_build(&plain, &tree, error);
    }
    if (status == GRAFT_OK && tree != NULL) {
        const struct graft_module_info module = graft_module_info_of(graft_node_find(tree->root, first->path));
        status =
            graft_fusion_transforms_make(registration->choice->known, name, config, &options, &module, made, error);
    }
    graft_tree_free(tree);
    graft_json_free(none);
    return status;
}

/* Whether a candidate before number `i` has the same name, so that the list has its transforms already. */
static int is_named_before(const struct graft_fused_modules *fused, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (fused->candidates[k]->fusable &&
            strcmp(name_of(fused->candidates[k]->path), name_of(fused->candidates[i]->path)) == 0) {
            return 1;
        }
    }
    return 0;
}

static int register_list(const struct registration *registration, const struct graft_fusion_transforms *made,
                         struct graft_error *error) {
    const char *model_type = registration->options->config->model_type;
    struct graft_snapshot *snapshot = graft_registry_snapshot(registration->registry);
    const struct conversion_list *old = graft_snapshot_conversions(snapshot, model_type);
    struct list list = {graft_alloc((old != NULL ? old->n : 0) + made->n + 1, sizeof *list.items), 0};
    int status = list.items != NULL ? GRAFT_OK : graft_fail_memory(error, model_type);
    for (; status == GRAFT_OK && old != NULL && list.n < old->n; list.n++) {
        list.items[list.n] = old->transforms[list.n];
    }
    for (size_t i = 0; i < made->n && status == GRAFT_OK; i++) {
        status = add_transform(registration, &made->items[i], &list, error);
    }
    if (status == GRAFT_OK) {
        status = graft_registry_replace_conversions(registration->registry, model_type, list.items, list.n, error);
    }
    graft_free(list.items);
    graft_snapshot_release(snapshot);
    return status;
}

static int register_transforms(const struct registration *registration, struct graft_error *error) {
    const struct graft_fused_modules *fused = registration->fused;
    int status = GRAFT_OK;
    for (size_t i = 0; i < fused->n && status == GRAFT_OK; i++) {
        struct graft_fusion_transforms made = {0};
        if (!fused->candidates[i]->fusable || is_named_before(fused, i)) {
            continue;
        }
        status = make_transforms(registration, fused->candidates[i], &made, error);
        if (status == GRAFT_OK) {
            status = register_list(registration, &made, error);
        }
        graft_fusion_transforms_finish(&made);
    }
    return status;
}

static int register_choice(struct graft_registry *registry, const struct graft_tree_options *options,
                           const struct graft_fusion_choice *choice, struct graft_error *error) {
    struct registration registration = {registry, options, choice, NULL};
    int status = graft_fusion_find_modules(options, choice, &registration.fused, error);
    if (status == GRAFT_OK) {
        status = register_transforms(&registration, error);
    }
    if (status == GRAFT_OK) {
        status = graft_registry_put_fusion(registry, registration.fused, options->config->model_type, error);
    }
    graft_fused_modules_release(registration.fused);
    return status;
}

int graft_fusion_register(struct graft_registry *registry, const struct graft_tree_options *options,
                          struct graft_error *error) {
    struct graft_snapshot *before = graft_registry_snapshot(registry);
    int status = GRAFT_OK;
    for (size_t i = 0; i < options->fusion->n && status == GRAFT_OK; i++) {
        status = register_choice(registry, options, &options->fusion->choices[i], error);
    }
    if (status != GRAFT_OK) {
        graft_registry_restore(registry, before);
    }
    graft_snapshot_release(before);
    return status;
}
