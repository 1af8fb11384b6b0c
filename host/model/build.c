/* SPDX-License-Identifier: Apache-2.0 */
/* Building the meta tree: each class describes itself, each child's class is resolved through the snapshot. */
#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "model/describe.h"
#include "model/node.h"
#include "registry/nearest.h"

/* Decides who describes and who makes the module: what a replacement leaves out is the original's, and a kernel makes
 * what they describe. */
static void choose_class(struct graft_node *node, const struct graft_resolution *found) {
    const struct graft_known_class *replacement = found->replacement;
    const struct graft_known_class *built = replacement != NULL ? replacement : found->original;
    node->known = found->kernel != NULL ? found->kernel : built;
    node->original = node->known != found->original ? found->original : NULL;
    node->kernel_on = found->kernel != NULL ? replacement : NULL;
    node->class_name = node->known->cls->name;
    node->describer = built;
    node->maker = node->known;
    if (replacement != NULL) {
        int calls_super = (replacement->cls->flags & GRAFT_CLASS_CALLS_SUPER) != 0;
        if (replacement->cls->describe == NULL && !calls_super) {
            node->describer = found->original;
        }
        if (replacement->cls->forward == NULL && found->kernel == NULL) {
            node->maker = found->original;
        }
    }
}

/* Whether this child is what a replacement calls by the name of the class it replaces: then it means the original. */
static int means_original(const struct graft_node *parent, const char *class_name) {
    return parent != NULL && parent->original != NULL && parent->describer != parent->original &&
           strcmp(parent->original->cls->name, class_name) == 0;
}

/* What the name stands for at `place`; with `original_only` the class of that name, whoever wants to replace it. */
static int resolve(const struct builder *builder, const struct graft_module_place *place, int original_only,
                   struct graft_resolution *found, struct graft_error *error) {
    const struct graft_snapshot *snapshot = builder->options->snapshot;
    return original_only ? graft_snapshot_original(snapshot, place, found, error)
                         : graft_snapshot_resolve(snapshot, place, builder->assignment, found, error);
}

static int build_super(struct builder *builder, struct graft_node *node, struct graft_error *error) {
    struct graft_resolution original = {.original = node->original};
    if (node->original == NULL || node->describer == node->original ||
        (node->describer->cls->flags & GRAFT_CLASS_CALLS_SUPER) == 0) {
        return GRAFT_OK;
    }
    node->super = graft_node_create(node->parent, node->name);
    if (node->super == NULL || graft_args_append(&node->super->args, &node->args) != 0) {
        return graft_fail_memory(error, node->path);
    }
    node->super->is_super = 1;
    node->super->below_super = 1;
    choose_class(node->super, &original);
    return graft_builder_describe(builder, node->super, error);
}

int graft_builder_add_child(struct builder *builder, struct graft_node *parent, const char *name,
                            const struct graft_child_info *info, struct graft_error *error) {
    struct graft_node *child = graft_node_create(parent, name);
    if (child == NULL || graft_args_append(&child->args, info->args) != 0) {
        graft_node_free(child);
        return graft_fail_memory(error, parent != NULL ? parent->path : name);
    }
    struct graft_node *owner = builder->describing;
    struct graft_module_place place = {
        .class_name = info->class_name,
        .path = child->path,
        .model_type = builder->options->config->model_type,
        .asking = owner != NULL ? owner->describer->origin.plugin : NULL,
        .fused = builder->fusions != NULL ? graft_fusions_at(builder->fusions, child->path) : NULL,
    };
    int original_only = builder->options->without_replacements || means_original(owner, info->class_name);
    struct graft_resolution found;
    int status = resolve(builder, &place, original_only, &found, error);
    if (status == GRAFT_OK && strcmp(found.original->cls->interface_id, info->interface_id) != 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_PLUGIN, child->path, "%s has the interface %s, its parent expects %s",
                            info->class_name, found.original->cls->interface_id, info->interface_id);
    }
    if (status != GRAFT_OK) {
        graft_node_free(child);
        return status;
    }
    choose_class(child, &found);
    const struct graft_args *more = found.replacement != NULL ? found.replacement->args : NULL;
    if (more != NULL && graft_args_append(&child->args, more) != 0) {
        graft_node_free(child);
        return graft_fail_memory(error, place.class_name);
    }
    if (parent == NULL) {
        builder->tree->root = child;
    } else if (graft_node_adopt(parent, child) != 0) {
        return graft_fail_memory(error, place.class_name);
    }
    status = graft_builder_describe(builder, child, error);
    return status == GRAFT_OK ? build_super(builder, child, error) : status;
}

static int build(struct builder *builder, struct graft_error *error) {
    const struct graft_known_class *root =
        graft_snapshot_class(builder->options->snapshot, builder->options->class_name, NULL);
    if (root == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, builder->options->config->file,
                              "architectures: there is no class %s", builder->options->class_name);
        graft_snapshot_hint_nearest(builder->options->snapshot, builder->options->class_name, error);
        graft_error_hint(error, "graft_library_classes lists the classes there are");
        return GRAFT_ERROR_MODEL;
    }
    struct graft_child_info info = {
        .struct_size = sizeof info,
        .class_name = builder->options->class_name,
        .interface_id = root->cls->interface_id,
    };
    int status = graft_builder_add_child(builder, NULL, "", &info, error);
    return status == GRAFT_OK ? graft_builder_resolve_ties(builder, error) : status;
}

int graft_builder_build(const struct graft_tree_options *options, struct graft_assignment *assignment,
                        const struct fusions *fusions, struct graft_tree **tree, struct graft_error *error) {
    struct builder builder = {.options = options, .assignment = assignment, .fusions = fusions};
    builder.tree = graft_alloc(1, sizeof *builder.tree);
    if (builder.tree == NULL) {
        return graft_fail_memory(error, options->class_name);
    }
    builder.tree->config = options->config;
    int status = build(&builder, error);
    graft_builder_finish(&builder);
    if (status != GRAFT_OK) {
        graft_tree_free(builder.tree);
        return status;
    }
    *tree = builder.tree;
    return GRAFT_OK;
}

int graft_builder_build_plain(const struct graft_tree_options *options, struct graft_tree **tree,
                              struct graft_error *error) {
    struct graft_tree_options plain = *options;
    plain.without_replacements = 1;
    return graft_builder_build(&plain, NULL, NULL, tree, error);
}
