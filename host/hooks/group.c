/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/group.h"

#include <string.h>

#include "hooks/forward_hooks.h"

static const struct graft_class *built_class(const struct graft_node *node) {
    const struct graft_known_class *built = node->kernel_on != NULL ? node->kernel_on : node->known;
    return built != NULL ? built->cls : NULL;
}

/* The group of the replacement that the module is of, and the plugin whose group it is; NULL if it is of none. */
static const char *find_group(const struct graft_tree *tree, const struct graft_node *node,
                              struct graft_origin *origin) {
    const struct graft_replacement *replacement;
    for (size_t i = 0; (replacement = graft_snapshot_replacement(tree->snapshot, i, origin)) != NULL; i++) {
        if (replacement->replacement == built_class(node) && replacement->group != NULL) {
            return replacement->group;
        }
    }
    return NULL;
}

int graft_group_has(const struct graft_tree *tree, const struct graft_node *node) {
    struct graft_origin origin;
    return find_group(tree, node, &origin) != NULL;
}

/* Below a class that calls super are its super's children. */
static int has_below(const struct graft_node *node, const struct graft_class *cls) {
    int has = built_class(node) == cls || (node->super != NULL && has_below(node->super, cls));
    for (size_t i = 0; i < node->n_children && !has; i++) {
        has = has_below(node->children[i], cls);
    }
    return has;
}

static int same_plugin(const struct graft_origin *a, const struct graft_origin *b) {
    return a->plugin == b->plugin || (a->plugin != NULL && b->plugin != NULL && strcmp(a->plugin, b->plugin) == 0);
}

/* Whether each class of the group that is somewhere in the tree is in the module or below it. */
static int has_all_below(const struct graft_tree *tree, const struct graft_node *above, const char *group,
                         const struct graft_origin *of) {
    const struct graft_replacement *replacement;
    struct graft_origin origin;
    int has = 1;
    for (size_t i = 0; has && (replacement = graft_snapshot_replacement(tree->snapshot, i, &origin)) != NULL; i++) {
        if (replacement->group != NULL && strcmp(replacement->group, group) == 0 && same_plugin(&origin, of)) {
            has = has_below(above, replacement->replacement) || !has_below(tree->root, replacement->replacement);
        }
    }
    return has;
}

const struct graft_node *graft_group_above(const struct graft_tree *tree, const struct graft_node *node) {
    struct graft_origin origin;
    const char *group = find_group(tree, node, &origin);
    const struct graft_node *above = group != NULL ? node : NULL;
    while (above != NULL && (!graft_can_hook(above) || !has_all_below(tree, above, group, &origin))) {
        above = above->parent;
    }
    while (above != NULL && above->wrapper != NULL) { /* parents see the outermost of a stack */
        above = above->wrapper;
    }
    return above;
}
