/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node.h"

#include <string.h>

#include "base/alloc.h"

struct graft_node *graft_node_create(struct graft_tree *tree, struct graft_node *parent, const char *name) {
    const char *above = parent != NULL ? parent->path : "";
    const size_t prefix = above[0] != '\0' ? strlen(above) + 1 : 0, length = strlen(name);
    struct graft_node *node = graft_arena_alloc(&tree->arena, 1, sizeof *node + prefix + length + 1);
    if (node == NULL) {
        return NULL;
    }
    char *path = (char *)(node + 1);
    if (prefix > 0) {
        memcpy(path, above, prefix - 1);
        path[prefix - 1] = '.';
    }
    memcpy(path + prefix, name, length + 1);
    node->path = path;
    node->name = path + prefix;
    node->args.struct_size = sizeof node->args;
    node->parent = parent;
    node->below_super = parent != NULL && parent->below_super;
    return node;
}

/* The number that a name spells in decimal, without leading zeros; -1 if it is not a number. */
static int64_t number_of(const char *name, size_t length) {
    enum { MAX_DIGITS = 9 };
    int64_t number = 0;
    if (length == 0 || length > MAX_DIGITS || (name[0] == '0' && length > 1)) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return -1;
        }
        number = 10 * number + (name[i] - '0');
    }
    return number;
}

/* The child of a name. Numbered children are not searched, since lists have hundreds of them. */
struct graft_node *graft_node_child(const struct graft_node *node, const char *name, size_t length) {
    if (node->is_numbered) {
        const int64_t number = number_of(name, length);
        return number >= 0 && (size_t)number < node->n_children ? node->children[number] : NULL;
    }
    for (size_t i = 0; i < node->n_children; i++) {
        const char *own = node->children[i]->name;
        if (strncmp(own, name, length) == 0 && own[length] == '\0') {
            return node->children[i];
        }
    }
    return NULL;
}

int graft_node_adopt(struct graft_node *parent, struct graft_node *child_take) {
    if (graft_grow(&parent->children, &parent->children_capacity, parent->n_children, sizeof(struct graft_node *)) !=
        0) {
        graft_node_free(child_take);
        return -1;
    }
    parent->is_numbered = (parent->is_numbered || parent->n_children == 0) &&
                          number_of(child_take->name, strlen(child_take->name)) == (int64_t)parent->n_children;
    parent->children[parent->n_children++] = child_take;
    return 0;
}

struct graft_derived *graft_node_derive(struct graft_node *node, size_t n) {
    struct graft_derived *derived = graft_alloc(1, sizeof *derived);
    if (derived == NULL ||
        graft_grow(&node->derived, &node->derived_capacity, node->n_derived, sizeof(struct graft_derived *)) != 0) {
        graft_free(derived);
        return NULL;
    }
    node->derived[node->n_derived++] = derived;
    derived->sources = graft_alloc(n, sizeof *derived->sources);
    derived->conversion = (struct graft_conversion){
        .struct_size = sizeof derived->conversion,
        .n_sources = derived->sources != NULL ? (int32_t)n : 0,
        .sources = (const char *const *)derived->sources,
        .n_targets = 1,
        .targets = (const char *const *)&derived->target,
        .operation_stride = sizeof derived->operations[0],
    };
    return derived->sources != NULL ? derived : NULL;
}

const char *graft_node_renamed(const struct graft_node *node, const char *name, size_t i) {
    const struct graft_class *cls = node->described_by->cls;
    for (int32_t k = 0; k < cls->n_conversions; k++) {
        const struct graft_conversion *conversion = graft_class_conversion(cls, k);
        if (conversion->n_operations == 0 && strcmp(conversion->targets[0], name) == 0 && i-- == 0) {
            return conversion->sources[0];
        }
    }
    return NULL;
}

void graft_node_blame(const struct graft_node *node, const struct graft_known_class *known,
                      const struct graft_model_config *config, struct graft_error *error) {
    char file[sizeof error->source];
    graft_error_print(file, sizeof file, "%s", config->view.file);
    if (error != NULL && known->origin.plugin != NULL && strcmp(error->source, file) == 0) {
        graft_error_add(error, "; %s of plugin %s asked for it%s%s", known->cls->name, known->origin.plugin,
                        node->path[0] != '\0' ? ", at " : "", node->path);
    }
}

/* The module's name in checkpoints, by a conversion of the module above, or its own name. */
static const char *name_in_checkpoints(const struct graft_node *node) {
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node->parent, i)) != NULL; i++) {
        if (conversion->n_operations == 0 && strcmp(conversion->targets[0], node->name) == 0) {
            return conversion->sources[0];
        }
    }
    return node->name;
}

int graft_node_alias(const struct graft_node *node, char alias[GRAFT_NAME_BYTES]) {
    alias[0] = '\0';
    if (node->parent == NULL) {
        return 0;
    }
    const int is_below_another = graft_node_alias(node->parent, alias);
    const char *above = is_below_another ? alias : node->parent->path, *name = name_in_checkpoints(node);
    char full[GRAFT_NAME_BYTES];
    if ((!is_below_another && strcmp(name, node->name) == 0) || !graft_name_below(above, name, full)) {
        return 0;
    }
    memcpy(alias, full, strlen(full) + 1);
    return 1;
}

int graft_node_same_parameter(const struct graft_parameter *a, const struct graft_parameter *b) {
    return strcmp(a->own_name, b->own_name) == 0 && a->rank == b->rank && a->init == b->init && a->flags == b->flags &&
           a->dtype == b->dtype && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
           memcmp(&a->join, &b->join, sizeof a->join) == 0 && memcmp(&a->inputs, &b->inputs, sizeof a->inputs) == 0;
}

int graft_node_same_kept(const struct graft_node *a, const struct graft_node *b) {
    return a->kept_bytes == b->kept_bytes && (a->kept_bytes == 0 || memcmp(a->kept, b->kept, a->kept_bytes) == 0);
}
