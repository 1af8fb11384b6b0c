/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the instances of a tree whose weights are bound, and destroys them. */
#include <string.h>

#include "base/crash_context.h"
#include "base/lend.h"
#include "model/coded.h"
#include "model/node.h"

static const struct graft_weight *find_weight(void *data, const char *name) {
    /* a coded parameter's tensor of codes may have the same name */
    const struct graft_weight *coded = graft_node_coded(data, name);
    const struct graft_parameter *parameter = coded == NULL ? graft_node_parameter(data, name) : NULL;
    return parameter != NULL ? parameter->weight : coded;
}

static const struct graft_module *find_child(void *data, const char *name) {
    const struct graft_node *child = graft_node_find(data, name);
    return child != NULL && child->module.forward != NULL ? &child->module : NULL;
}

static const struct graft_state *find_state(void *data, const char *name) {
    return graft_node_state(data, name);
}

static const struct graft_args *find_child_args(void *data, const char *name) {
    const struct graft_node *child = graft_node_find(data, name);
    return child != NULL ? &child->args : NULL;
}

struct graft_build graft_node_build(struct graft_node *node, const struct graft_tree *tree,
                                    const struct graft_host *host) {
    return (struct graft_build){
        .struct_size = sizeof(struct graft_build),
        .path = node->path,
        .host = host,
        .config = &tree->config->view,
        .args = &node->args,
        .data = node,
        .weight = find_weight,
        .child = find_child,
        .child_args = find_child_args,
        .state = find_state,
        .memory = graft_node_memory,
    };
}

/* Adds the class to an error of config.json, which does not say which class read the field. */
static int failed(const struct graft_node *node, const struct graft_tree *tree, int status, struct graft_error *error) {
    const struct graft_known_class *cls = node->made_by;
    const char *plugin = cls->origin.plugin;
    int code =
        graft_error_complete(error, status, node->path, "create of %s%s%s failed with status %d and recorded no error",
                             cls->cls->name, plugin != NULL ? " of plugin " : "", plugin != NULL ? plugin : "", status);
    graft_node_blame(node, cls, tree->config, error);
    return code;
}

static int create(struct graft_node *node, const struct graft_tree *tree, const struct graft_host *host,
                  struct graft_error *error) {
    const struct graft_class *cls = node->made_by->cls;
    void *instance = NULL;
    struct graft_build build = graft_node_build(node, tree, host);
    build.super = node->super != NULL ? &node->super->module : NULL;
    build.kept = node->kept;
    int status = graft_node_make_coded(node, &build, 0, error);
    if (status != GRAFT_OK) {
        return failed(node, tree, status, error);
    }
    if (cls->create == NULL) {
        instance = node->super != NULL ? &node->super->module : NULL;
    } else {
        const struct graft_plugin_call task = {"create", node->path, cls->name, node->made_by->origin.plugin, NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        const struct graft_build *lent = graft_lend_build(&build);
        status = cls->create(cls, lent, &instance, error);
        graft_take_back(lent);
        graft_crash_context_end(before);
        status = status == GRAFT_OK ? error->code : status;
        if (status != GRAFT_OK) {
            return failed(node, tree, status, error);
        }
    }
    node->module = (struct graft_module){
        sizeof node->module, 0, node->path, node->class_name, cls->forward, instance, node->made_by->origin.plugin};
    return GRAFT_OK;
}

static int instantiate(struct graft_node *node, const struct graft_tree *tree, const struct graft_host *host,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < node->n_children && status == GRAFT_OK; i++) {
        status = instantiate(node->children[i], tree, host, error);
    }
    if (status == GRAFT_OK && node->super != NULL) {
        status = instantiate(node->super, tree, host, error);
    }
    if (status == GRAFT_OK && node->known != NULL) {
        status = create(node, tree, host, error);
    }
    return status;
}

int graft_tree_instantiate(struct graft_tree *tree, const struct graft_host *host, struct graft_error *error) {
    struct graft_error own = graft_error_none(); /* classes always get an error, which tells whether `create` failed */
    tree->has_instances = 1;
    return instantiate(tree->root, tree, host, error != NULL ? error : &own);
}

static void destroy(struct graft_node *node) {
    if (node->module.forward != NULL) {
        const struct graft_class *cls = node->made_by->cls;
        if (cls->create != NULL && cls->destroy != NULL && node->module.instance != NULL) {
            const struct graft_plugin_call task = {"destroy", node->path, cls->name, node->made_by->origin.plugin,
                                                   NULL};
            const struct graft_crash_context before = graft_crash_context_begin(&task);
            cls->destroy(node->module.instance);
            graft_crash_context_end(before);
        }
        memset(&node->module, 0, sizeof node->module);
    }
    graft_node_release_coded(node);
    if (node->super != NULL) {
        destroy(node->super);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        destroy(node->children[i]);
    }
}

void graft_tree_destroy_instances(struct graft_tree *tree) {
    if (tree->has_instances) {
        destroy(tree->root);
    }
    tree->has_instances = 0;
}
