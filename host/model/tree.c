/* SPDX-License-Identifier: Apache-2.0 */
/* Searches and frees trees. */
#include "model/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "model/coded.h"
#include "model/join.h"
#include "model/node.h"
#include "registry/assignment.h"
#include "registry/conversion_copy.h"
#include "registry/fused_modules.h"

/* The number of the class's own conversions; 0 if a registered list replaces them. */
static size_t class_conversions(const struct graft_node *node) {
    return node->described_by != NULL && !node->is_converted ? (size_t)node->described_by->cls->n_conversions : 0;
}

const struct graft_conversion *graft_node_conversion(const struct graft_node *node, size_t i) {
    if (i < node->n_conversions) {
        return &node->conversions[i];
    }
    i -= node->n_conversions;
    size_t n = class_conversions(node);
    if (i < n) {
        return graft_class_conversion(node->described_by->cls, (int32_t)i);
    }
    return i - n < node->n_derived ? &node->derived[i - n]->conversion : NULL;
}

struct graft_node *graft_node_above(const struct graft_node *node) {
    return node->wrapper != NULL ? node->wrapper : node->parent;
}

struct graft_node *graft_node_find(struct graft_node *from, const char *path) {
    while (from != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        struct graft_node *next = NULL;
        for (; from != NULL && next == NULL; from = from->super) {
            next = graft_node_child(from, path, length);
        }
        from = next;
        path += path[length] == '.' ? length + 1 : length;
    }
    return from;
}

int graft_node_has_interface(const struct graft_node *node, const char *interface_id) {
    return node != NULL && node->known != NULL && strcmp(node->made_by->cls->interface_id, interface_id) == 0;
}

static const struct graft_node *outermost(const struct graft_node *node) {
    while (node->wrapper != NULL) {
        node = node->wrapper;
    }
    return node;
}

int graft_nodes_share_tensors(const struct graft_node *a, const struct graft_node *b) {
    for (const struct graft_node *x = a; x != NULL; x = x->parent) {
        for (const struct graft_node *y = b; y != NULL; y = y->parent) {
            if (x != y && outermost(x) == outermost(y)) {
                return 1;
            }
        }
    }
    return 0;
}

struct graft_parameter *graft_node_parameter(const struct graft_node *node, const char *own_name) {
    for (size_t i = 0; i < node->n_parameters; i++) {
        if (strcmp(node->parameters[i]->own_name, own_name) == 0) {
            return node->parameters[i];
        }
    }
    return NULL;
}

struct graft_parameter *graft_node_find_parameter(struct graft_node *from, const char *path) {
    while (from != NULL) {
        size_t length = strcspn(path, ".");
        struct graft_node *next = NULL;
        for (; from != NULL; from = from->super) {
            struct graft_parameter *found = graft_node_parameter(from, path);
            if (found != NULL) {
                return found;
            }
            next = next != NULL ? next : graft_node_child(from, path, length);
        }
        from = path[length] == '.' ? next : NULL;
        path += length + 1;
    }
    return NULL;
}

const struct graft_state *graft_node_state(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_states; i++) {
        if (strcmp(node->states[i].name, name) == 0) {
            return &node->states[i].state;
        }
    }
    return NULL;
}

static int walk(struct graft_node *node, graft_node_visitor visit, void *data, struct graft_error *error) {
    int status = visit(data, node, error);
    if (status == GRAFT_OK && node->super != NULL) {
        status = walk(node->super, visit, data, error);
    }
    for (size_t i = 0; i < node->n_children && status == GRAFT_OK; i++) {
        status = walk(node->children[i], visit, data, error);
    }
    return status;
}

int graft_tree_walk(struct graft_tree *tree, graft_node_visitor visit, void *data, struct graft_error *error) {
    return walk(tree->root, visit, data, error);
}

static void free_derived(struct graft_derived *derived) {
    for (int32_t i = 0; derived->sources != NULL && i < derived->conversion.n_sources; i++) {
        graft_free(derived->sources[i]);
    }
    graft_free(derived->sources);
    graft_free(derived->target);
    graft_free(derived);
}

void graft_node_free(struct graft_node *node) {
    if (node == NULL ||
        node->like != NULL) { /* a module like another one shares that one's, or has them in the arena */
        return;
    }
    for (size_t i = 0; i < node->n_children; i++) {
        graft_node_free(node->children[i]);
    }
    graft_node_free(node->super);
    graft_free(node->parameters);
    graft_free(node->sources);
    for (size_t i = 0; i < node->n_states; i++) {
        graft_free(node->states[i].name);
    }
    for (size_t i = 0; i < node->n_conversions; i++) {
        graft_conversion_finish(&node->conversions[i]);
    }
    graft_free(node->conversions);
    for (size_t i = 0; i < node->n_shares; i++) {
        graft_free(node->shares[i].name);
    }
    graft_free(node->shares);
    for (size_t i = 0; i < node->n_derived; i++) {
        free_derived(node->derived[i]);
    }
    graft_args_finish(&node->args);
    graft_join_free(node->join);
    graft_free(node->derived);
    graft_node_free_coded(node);
    graft_free(node->kept);
    graft_free(node->attributes);
    graft_free(node->states);
    graft_free(node->children);
}

void graft_tree_free(struct graft_tree *tree) {
    if (tree != NULL) {
        if (tree->root != NULL) {
            graft_tree_destroy_instances(tree);
        }
        graft_node_free(tree->root);
        graft_assignment_free(tree->assignment);
        for (size_t i = 0; i < tree->n_fused_modules; i++) {
            graft_fused_modules_release(tree->fused_modules[i]);
        }
        graft_free(tree->fused_modules);
        for (size_t i = 0; i < tree->n_tied_names; i++) {
            graft_free(tree->tied_names[i].name);
            graft_free(tree->tied_names[i].tensor);
        }
        graft_free(tree->tied_names);
        graft_snapshot_release(tree->snapshot);
        graft_arena_finish(&tree->arena);
        graft_free(tree);
    }
}

static const struct graft_attribute *attribute_of(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_attributes; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            return &node->attributes[i];
        }
    }
    return NULL;
}

int64_t graft_tree_number(const struct graft_tree *tree, const char *name, int64_t fallback) {
    const struct graft_attribute *found = NULL;
    for (const struct graft_node *node = tree->root; node != NULL && found == NULL; node = node->super) {
        found = attribute_of(node, name);
    }
    return found != NULL ? found->values[0] : fallback;
}
