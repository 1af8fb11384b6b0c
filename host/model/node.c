/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node.h"

#include "base/alloc.h"

struct graft_node *graft_node_create(struct graft_node *parent, const char *name) {
    struct graft_node *node = graft_alloc(1, sizeof *node);
    if (node == NULL) {
        return NULL;
    }
    int below_root = parent != NULL && parent->path[0] != '\0';
    node->parent = parent;
    node->below_super = parent != NULL && parent->below_super;
    node->name = graft_strdup(name);
    node->path = below_root ? graft_format("%s.%s", parent->path, name) : graft_strdup(name);
    if (node->name == NULL || node->path == NULL) {
        graft_node_free(node);
        return NULL;
    }
    return node;
}

int graft_node_adopt(struct graft_node *parent, struct graft_node *child_take) {
    if (graft_grow(&parent->children, &parent->children_capacity, parent->n_children, sizeof(struct graft_node *)) !=
        0) {
        graft_node_free(child_take);
        return -1;
    }
    parent->children[parent->n_children++] = child_take;
    return 0;
}

int graft_node_set_args(struct graft_node *node, const struct graft_args *args) {
    node->args = graft_alloc((size_t)args->count + 1, sizeof *node->args);
    if (node->args == NULL) {
        return -1;
    }
    for (; node->n_args < args->count; node->n_args++) {
        node->args[node->n_args].name = graft_strdup(args->items[node->n_args].name);
        node->args[node->n_args].value = args->items[node->n_args].value;
        if (node->args[node->n_args].name == NULL) {
            return -1;
        }
    }
    return 0;
}

int graft_node_add_args(struct graft_node *node, const struct graft_args *args) {
    struct graft_arg *grown = graft_realloc(node->args, (size_t)(node->n_args + args->count) + 1, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    node->args = grown;
    for (int32_t i = 0; i < args->count; i++) {
        struct graft_arg *added = &node->args[node->n_args];
        *added = (struct graft_arg){graft_strdup(args->items[i].name), args->items[i].value};
        if (added->name == NULL) {
            return -1;
        }
        node->n_args++;
    }
    return 0;
}

struct graft_args graft_node_args(const struct graft_node *node) {
    return (struct graft_args){sizeof(struct graft_args), node->n_args, node->args};
}
