/* SPDX-License-Identifier: Apache-2.0 */
/* The information about a node of a meta tree that fusion families get. */
#include <string.h>

#include "model/fusion.h"

static int32_t attribute(const void *data, const char *name, int64_t values[GRAFT_MAX_RANK]) {
    const struct graft_node *node = data;
    for (size_t i = 0; i < node->n_attributes; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            memcpy(values, node->attributes[i].values, (size_t)node->attributes[i].count * sizeof *values);
            return node->attributes[i].count;
        }
    }
    return 0;
}

static int32_t parameter(const void *data, const char *name, int64_t shape[GRAFT_MAX_RANK]) {
    const struct graft_parameter *found = graft_node_parameter(data, name);
    if (found == NULL) {
        return 0;
    }
    memcpy(shape, found->shape, (size_t)found->rank * sizeof *shape);
    return found->rank;
}

/* The info is a part of the node, so that it lives as long as the tree. */
static const struct graft_module_info *child(const void *data, const char *path) {
    struct graft_node *found = graft_node_find((struct graft_node *)(uintptr_t)data, path);
    if (found == NULL) {
        return NULL;
    }
    found->info = graft_module_info_of(found);
    return &found->info;
}

static const char *attribute_name(const void *data, int32_t i) {
    const struct graft_node *node = data;
    return i >= 0 && (size_t)i < node->n_attributes ? node->attributes[i].name : NULL;
}

static const char *parameter_name(const void *data, int32_t i) {
    const struct graft_node *node = data;
    return i >= 0 && (size_t)i < node->n_parameters ? node->parameters[i]->own_name : NULL;
}

static const char *child_name(const void *data, int32_t i) {
    const struct graft_node *node = data;
    return i >= 0 && (size_t)i < node->n_children ? node->children[i]->name : NULL;
}

struct graft_module_info graft_module_info_of(const struct graft_node *node) {
    return (struct graft_module_info){
        .struct_size = sizeof(struct graft_module_info),
        .path = node->path,
        .class_name = node->class_name,
        .interface_id = node->known != NULL ? node->known->cls->interface_id : "",
        .data = node,
        .attribute = attribute,
        .parameter = parameter,
        .child = child,
        .attribute_name = attribute_name,
        .parameter_name = parameter_name,
        .child_name = child_name,
    };
}
