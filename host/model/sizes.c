/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of the described parameters of modules, and their order; known before any file is read. */
#include <string.h>

#include "base/dtype.h"
#include "model/tree.h"

enum { BYTES_OF_ANY_TYPE = 2 };

/* limit of the sum, as a config may ask for absurd sizes */
static const int64_t most = INT64_C(1) << 60;

static int64_t parameter_bytes(const struct graft_parameter *parameter) {
    int64_t bytes = parameter->dtype != GRAFT_DTYPE_NONE ? graft_dtype_size(parameter->dtype) : BYTES_OF_ANY_TYPE;
    for (int32_t i = 0; i < parameter->rank; i++) {
        bytes = bytes < most / parameter->shape[i] ? bytes * parameter->shape[i] : most;
    }
    return bytes;
}

static int measure(void *data, struct graft_node *node, struct graft_error *error) {
    int64_t *bytes = data;
    (void)error;
    node->bytes_before = *bytes;
    for (size_t i = 0; i < node->n_parameters; i++) {
        int64_t more = parameter_bytes(node->parameters[i]);
        *bytes = *bytes < most - more ? *bytes + more : most;
    }
    return GRAFT_OK;
}

void graft_tree_measure(struct graft_tree *tree) {
    (void)graft_tree_walk(tree, measure, &tree->bytes, NULL);
}

int64_t graft_tree_bytes_before(const struct graft_tree *tree, const char *path) {
    const struct graft_node *node = path != NULL ? graft_node_find(tree->root, path) : NULL;
    return node != NULL ? node->bytes_before : tree->bytes;
}

enum { NEITHER, PATH, INTERFACE };

/* Finds which of a path and an interface comes first, in the module, below its super, and below the module. */
static int find_first(const struct graft_node *node, const char *path, const char *interface_id) {
    int found = path != NULL && strcmp(node->path, path) == 0 ? PATH : NEITHER;
    if (found == NEITHER && node->known != NULL && strcmp(node->known->cls->interface_id, interface_id) == 0) {
        found = INTERFACE;
    }
    if (found == NEITHER && node->super != NULL) {
        found = find_first(node->super, path, interface_id);
    }
    for (size_t i = 0; i < node->n_children && found == NEITHER; i++) {
        found = find_first(node->children[i], path, interface_id);
    }
    return found;
}

int graft_tree_comes_before(const struct graft_tree *tree, const char *path, const char *interface_id) {
    return find_first(tree->root, path, interface_id) == PATH &&
           find_first(tree->root, NULL, interface_id) == INTERFACE;
}
