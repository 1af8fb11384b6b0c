/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the meta tree: each class describes itself, and each child's class is resolved through the snapshot. */
#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "model/alike_check.h"
#include "model/describe.h"
#include "model/join.h"
#include "model/node.h"
#include "registry/nearest.h"

typedef int (*find_function)(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                             const struct graft_known_class **found, struct graft_error *error);

/* Finds the base whose functions a class inherits. A class that lacks them and has no base is returned itself. */
static int inherit(const struct graft_snapshot *snapshot, find_function find, const struct graft_known_class **known,
                   struct graft_error *error) {
    const struct graft_known_class *found = NULL;
    int status = find(snapshot, *known, &found, error);
    *known = found != NULL ? found : *known;
    return status;
}

/* Decides which class describes the module and which one makes it: a derived class inherits from its base, a
 * replacement that does not call super inherits from the original, and a kernel makes what these describe. */
static int choose_class(const struct builder *builder, struct graft_node *node,
                        const struct graft_known_class *original, const struct graft_stacked_class *stacked,
                        struct graft_error *error) {
    const struct graft_snapshot *snapshot = builder->options->snapshot;
    const struct graft_known_class *built = stacked->known;
    node->known = stacked->kernel != NULL ? stacked->kernel : built;
    node->original = node->known != original ? original : NULL;
    node->kernel_on = stacked->kernel != NULL && built != original ? built : NULL;
    node->class_name = node->known->cls->name;
    node->described_by = built;
    node->made_by = node->known;
    if ((built->cls->flags & GRAFT_CLASS_CALLS_SUPER) == 0 && built->cls->base == NULL) {
        node->described_by = built->cls->describe != NULL ? built : original;
        node->made_by = stacked->kernel == NULL && built->cls->forward == NULL ? original : node->known;
    }
    int status = inherit(snapshot, graft_snapshot_describing_class, &node->described_by, error);
    return status == GRAFT_OK ? inherit(snapshot, graft_snapshot_creating_class, &node->made_by, error) : status;
}

/* Whether a replacement describes a child of the class that it replaces, which then means the original class. */
static int means_original(const struct graft_node *parent, const char *class_name) {
    return parent != NULL && parent->original != NULL && parent->described_by != parent->original &&
           strcmp(parent->original->cls->name, class_name) == 0;
}

/* Resolves a class name at `place`; with `original_only` 1, to the class of that name without replacements. */
static int resolve(const struct builder *builder, const struct graft_module_place *place, int original_only,
                   struct graft_resolution *found, struct graft_error *error) {
    const struct graft_snapshot *snapshot = builder->options->snapshot;
    return original_only ? graft_snapshot_original(snapshot, place, found, error)
                         : graft_snapshot_resolve(snapshot, place, builder->assignment, found, error);
}

/* Gives the node class number `i` of the stack, and its arguments. */
static int set_up(const struct builder *builder, struct graft_node *node, const struct graft_resolution *found,
                  size_t i, const struct graft_args *args, struct graft_error *error) {
    const struct graft_args *more = found->stack[i].known->args;
    if (graft_args_append(&node->args, args) != 0 || (more != NULL && graft_args_append(&node->args, more) != 0)) {
        return graft_fail_memory(error, node->path);
    }
    return choose_class(builder, node, found->original, &found->stack[i], error);
}

/* Makes the nodes of the other classes of the stack, each as the super of the one before, and describes all of them. */
static int describe_stack(struct builder *builder, struct graft_node *node, const struct graft_resolution *found,
                          const struct graft_args *args, struct graft_error *error) {
    struct graft_node *last = node;
    int status = GRAFT_OK;
    for (size_t i = 1; i < found->n && status == GRAFT_OK; i++) {
        last->super = graft_node_create(builder->tree, last->parent, last->name);
        if (last->super == NULL) {
            return graft_fail_memory(error, last->path);
        }
        last->super->wrapper = last;
        last->super->below_super = 1;
        last = last->super;
        status = set_up(builder, last, found, i, args, error);
    }
    for (; node != NULL && status == GRAFT_OK; node = node->super) {
        status = graft_builder_describe(builder, node, error);
        if (status == GRAFT_OK) {
            status = graft_join_parameters(builder, node, error);
        }
        if (status == GRAFT_OK) {
            status = graft_share_parameters(builder, node, error);
        }
        if (node->is_elsewhere) {
            graft_node_free(node->super);
            node->super = NULL;
        }
    }
    return status;
}

/* Describes a module and those below it, unless it is like one that was described. */
static int describe_once(struct builder *builder, struct graft_node *node, const struct graft_resolution *found,
                         const struct graft_args *args, struct graft_error *error) {
    const struct alike_mark before = graft_alike_mark(builder);
    const int may_be_alike = found->n == 1 && node->join == NULL && builder->n_shares == 0;
    const struct alike *alike = may_be_alike ? graft_alike_find(builder, node) : NULL;
    if (alike != NULL && !graft_alike_check_is_on()) {
        return graft_alike_repeat(builder, node, alike, error);
    }
    builder->n_by_place += found->n > 1;
    int status = describe_stack(builder, node, found, args, error);
    if (status == GRAFT_OK && alike != NULL) {
        return graft_alike_compare(node, graft_alike_node(alike), error);
    }
    return status == GRAFT_OK && may_be_alike ? graft_alike_keep(builder, node, &before, error) : status;
}

/* The plugin that brings the model's family, whose root may be a private class. */
static const char *family_plugin(const struct builder *builder) {
    return builder->options->family != NULL ? builder->options->family->origin.plugin : NULL;
}

/* The family's stand-in for a class that a host's class, whose description is inherited, names as a child. */
static const char *stand_in_for(const struct builder *builder, const char *class_name) {
    const struct graft_known_family *known = builder->options->family;
    return known != NULL ? graft_family_stand_in_for(known->family, class_name) : NULL;
}

int graft_builder_add_child(struct builder *builder, struct graft_node *parent, const char *name,
                            const struct graft_child_info *info, struct graft_error *error) {
    struct graft_node *child = graft_node_create(builder->tree, parent, name);
    if (child == NULL) {
        return graft_fail_memory(error, parent != NULL ? parent->path : name);
    }
    struct graft_node *owner = builder->describing;
    const char *asking = owner != NULL ? builder->describing_class->origin.plugin : family_plugin(builder);
    const char *stand_in = owner != NULL && asking == NULL ? stand_in_for(builder, info->class_name) : NULL;
    char alias[GRAFT_NAME_BYTES];
    struct graft_module_place place = {
        .class_name = stand_in != NULL ? stand_in : info->class_name,
        .path = child->path,
        .alias = graft_node_alias(child, alias) ? alias : NULL,
        .model_type = builder->options->config->model_type,
        .asking = stand_in != NULL ? family_plugin(builder) : asking,
        .fused = builder->fusions != NULL ? graft_fusions_at(builder->fusions, child->path) : NULL,
        .facts = builder->options->facts,
    };
    int joining = graft_join_find(builder, info->name, &child->join, error);
    if (joining == GRAFT_OK && child->join != NULL) {
        joining = graft_join_take_parts(builder, child->join, info->args, error);
    }
    if (joining != GRAFT_OK) {
        graft_node_free(child);
        return joining;
    }
    place.joined = child->join != NULL ? &child->join->joined : NULL;
    int original_only = builder->options->without_replacements || means_original(owner, info->class_name);
    struct graft_resolution found;
    int status = resolve(builder, &place, original_only, &found, error);
    const int is_fusing = builder->fusions != NULL && builder->fusions->n > 0;
    const int is_joined = child->join != NULL && !child->join->is_renaming;
    builder->n_by_place += found.is_by_place || is_fusing || is_joined;
    if (status == GRAFT_OK && strcmp(found.original->cls->interface_id, info->interface_id) != 0) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, child->path,
                                 "%s has the interface %s, but its parent expects %s", place.class_name,
                                 found.original->cls->interface_id, info->interface_id);
    }
    if (status == GRAFT_OK) {
        status = set_up(builder, child, &found, 0, info->args, error);
    }
    if (status != GRAFT_OK) {
        graft_node_free(child);
        return status;
    }
    if (parent == NULL) {
        builder->tree->root = child;
    } else if (graft_node_adopt(parent, child) != 0) {
        return graft_fail_memory(error, place.class_name);
    }
    return describe_once(builder, child, &found, info->args, error);
}

static int build(struct builder *builder, struct graft_error *error) {
    const struct graft_known_class *root =
        graft_snapshot_class(builder->options->snapshot, builder->options->class_name, family_plugin(builder));
    if (root == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, builder->options->config->file,
                              "architectures: there is no class %s", builder->options->class_name);
        graft_snapshot_hint_nearest(builder->options->snapshot, builder->options->class_name, error);
        graft_error_hint(error, "graft_library_classes lists the classes");
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
