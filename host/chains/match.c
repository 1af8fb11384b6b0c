/* SPDX-License-Identifier: Apache-2.0 */
/* Turns paths into chains: finds the modules that the paths match and checks that they can form a chain. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "chains/chain.h"
#include "chains/chain_implementation.h"
#include "chains/glob.h"
#include "chains/wires.h"
#include "hooks/forward_hooks.h"

enum { MAX_MODULES = 16 };

/* The modules that match one path, in the order of the tree. */
struct fitting {
    const char *path;
    struct graft_tree *tree;
    struct graft_node **nodes;
    size_t count;
    size_t capacity;
};

/* If a replacement and its original have the same path, the replacement counts. */
static int visit(void *data, struct graft_node *node, struct graft_error *error) {
    struct fitting *fitting = data;
    if (node->parent == NULL || !graft_glob_fits(fitting->path, node->path) ||
        graft_node_find(fitting->tree->root, node->path) != node) {
        return GRAFT_OK;
    }
    if (graft_grow(&fitting->nodes, &fitting->capacity, fitting->count, sizeof(struct graft_node *)) != 0) {
        return graft_fail_memory(error, fitting->path);
    }
    fitting->nodes[fitting->count++] = node;
    return GRAFT_OK;
}

static int find_fitting(struct graft_tree *tree, const struct graft_module_spec *specs, size_t n,
                        struct fitting *fitting, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_module_spec *spec = graft_struct_at(specs, i);
        if (spec->path == NULL) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "fuse", "specs[%zu]: expected a path", i);
        }
        fitting[i] = (struct fitting){.path = spec->path, .tree = tree};
        status = graft_tree_walk(tree, visit, &fitting[i], error);
        if (status == GRAFT_OK && fitting[i].count == 0) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, spec->path, "no module of %s matches it",
                                     tree->root->class_name);
            graft_error_hint(error, "graft_model_module lists the modules; `*` matches anything but a dot");
        } else if (status == GRAFT_OK && fitting[i].count != fitting[0].count) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, spec->path,
                                     "matching modules: %zu, but %zu for %s; a chain takes one of each",
                                     fitting[i].count, fitting[0].count, specs[0].path);
        }
    }
    return status;
}

static int check_node(const struct graft_node *node, const struct graft_fused_chain *chain, size_t index,
                      const struct graft_chains *fusions, struct graft_error *error) {
    if (node->known == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "is a list of modules, which is never called");
    }
    if (graft_interface_find(node->made_by->cls->interface_id) == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path,
                               "cannot be fused: its interface %s is a plugin's own", node->made_by->cls->interface_id);
    }
    if (graft_chains_find(fusions, node) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "is already fused");
    }
    for (size_t i = 0; i < index; i++) {
        const struct graft_node *before = chain->modules[i].node;
        if (before == node) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "is named twice");
        }
        if (before->parent != node->parent) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, node->path,
                                   "cannot be fused with %s: they have different parents", before->path);
        }
    }
    return GRAFT_OK;
}

static int add_module(struct graft_fused_chain *chain, size_t index, struct graft_node *node,
                      struct graft_error *error) {
    struct graft_chain_module *module = &chain->modules[index];
    *module = (struct graft_chain_module){.chain = chain, .node = node, .index = index};
    module->args_size = graft_interface_find(node->made_by->cls->interface_id)->args_size;
    if (index + 1 < chain->n) {
        module->args = graft_alloc(1, module->args_size);
        if (module->args == NULL) {
            return graft_fail_memory(error, node->path);
        }
    }
    return GRAFT_OK;
}

static struct graft_fused_chain *new_chain(size_t n) {
    struct graft_fused_chain *chain = graft_alloc(1, sizeof *chain);
    if (chain == NULL) {
        return NULL;
    }
    chain->modules = graft_alloc(n, sizeof *chain->modules);
    chain->plain = graft_alloc(n, sizeof *chain->plain);
    chain->args = graft_alloc(n, sizeof *chain->args);
    if (chain->modules == NULL || chain->plain == NULL || chain->args == NULL) {
        graft_chain_free(chain);
        return NULL;
    }
    chain->n = n;
    return chain;
}

/* Adds chain number `at`: module number `at` of each path. */
static int add_chain(struct graft_chains *fusions, const struct graft_snapshot *snapshot,
                     const struct graft_module_spec *specs, const struct fitting *fitting, size_t n, size_t at,
                     struct graft_error *error) {
    struct graft_fused_chain *chain = new_chain(n);
    if (chain == NULL ||
        graft_grow(&fusions->items, &fusions->capacity, fusions->count, sizeof(struct graft_fused_chain *)) != 0) {
        graft_chain_free(chain);
        return graft_fail_memory(error, specs[0].path);
    }
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = check_node(fitting[i].nodes[at], chain, i, fusions, error);
        if (status == GRAFT_OK) {
            status = add_module(chain, i, fitting[i].nodes[at], error);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_wires_connect(chain, specs, error);
    }
    if (status == GRAFT_OK) {
        status = graft_chain_implementation_choose(chain, snapshot, error);
    }
    if (status != GRAFT_OK) {
        graft_chain_free(chain);
        return status;
    }
    fusions->items[fusions->count++] = chain;
    return GRAFT_OK;
}

int graft_chains_match(struct graft_tree *tree, const struct graft_module_spec *specs, size_t n,
                       struct graft_chains *fusions, struct graft_error *error) {
    struct fitting fitting[MAX_MODULES] = {0};
    size_t first = fusions->count;
    int status = graft_check_structs(specs, n, GRAFT_MODULE_SPEC_SIZE_1_0, "struct graft_module_spec", error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (n < 2 || n > MAX_MODULES) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, n > 0 && specs[0].path != NULL ? specs[0].path : "fuse",
                               "expected 2 to %d modules for a chain, got %zu", MAX_MODULES, n);
    }
    status = find_fitting(tree, specs, n, fitting, error);
    for (size_t at = 0; status == GRAFT_OK && at < fitting[0].count; at++) {
        status = add_chain(fusions, tree->snapshot, specs, fitting, n, at, error);
    }
    if (status != GRAFT_OK) {
        graft_chains_cut(fusions, first);
    }
    for (size_t i = 0; i < n; i++) {
        graft_free(fitting[i].nodes);
    }
    return status;
}
