/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/forward_hooks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "graft/describe.h"
#include "graft/embedding.h"

/* One hooked module: the `self` of the vtables. */
struct hooked_module {
    struct graft_forward_hook base;
    struct graft_hook_handle *handle;
    struct graft_node *node;
    struct graft_module original;
    const struct graft_interface *interface;
    struct graft_widths widths;
};

struct graft_hook_handle {
    struct graft_tree *tree;
    struct graft_forward_hooks hooks;
    struct hooked_module *modules;
    size_t count;
    double hook_seconds;   /* spent in the hooks so far */
    double module_seconds; /* spent in hooked modules that have returned to the one that runs now */
};

static int call_hook(struct graft_hook_handle *handle,
                     int (*hook)(void *data, struct graft_hooked_call *hooked, struct graft_error *error),
                     struct graft_hooked_call *hooked, struct graft_error *error) {
    if (hook == NULL) {
        return GRAFT_OK;
    }
    double start = graft_seconds();
    int status = hook(handle->hooks.data, hooked, error);
    handle->hook_seconds += graft_seconds() - start;
    return status;
}

static int hooked_forward(void *self, const struct graft_call *call, const void *args, struct graft_error *error) {
    struct hooked_module *module = self;
    struct graft_hook_handle *handle = module->handle;
    struct graft_hooked_call hooked = {.node = module->node, .module = &module->original, .call = call, .args = args};
    double siblings = handle->module_seconds;
    hooked.n_views = graft_interface_views(module->interface, &module->widths, args, hooked.views);
    int status = call_hook(handle, handle->hooks.before, &hooked, error);
    if (status == GRAFT_OK) {
        double hook_seconds = handle->hook_seconds;
        double start = graft_seconds();
        handle->module_seconds = 0.0;
        status = module->interface->run(&module->original, call, args, error);
        hooked.seconds = graft_seconds() - start - (handle->hook_seconds - hook_seconds);
        hooked.own_seconds = hooked.seconds - handle->module_seconds;
        handle->module_seconds = siblings + hooked.seconds;
    }
    return status == GRAFT_OK ? call_hook(handle, handle->hooks.after, &hooked, error) : status;
}

/* The number of labels in config.json, for a classifier that does not state it itself. */
static int64_t count_labels(const struct graft_config *config) {
    int64_t named = config->size(config->data, "id2label");
    int64_t given = config->integer(config->data, "num_labels");
    return given > 0 ? given : named > 0 ? named : 2;
}

static struct graft_widths find_widths(const struct graft_tree *tree, const struct graft_node *node) {
    const struct graft_config *config = &tree->config->view;
    const struct graft_args *args = &node->args;
    struct graft_widths widths = {
        .hidden = graft_args_int(args, "hidden_size", graft_tree_number(tree, "hidden_size", 0)),
        .vocab = graft_tree_number(tree, "vocab_size", 0),
        .labels = graft_tree_number(tree, "num_labels", count_labels(config)),
        .input = graft_args_int(args, "in_features", 0),
        .args = *args,
    };
    const char *interface = node->made_by->cls->interface_id;
    widths.output = graft_args_int(args, "out_features", 0);
    if (strcmp(interface, GRAFT_INTERFACE_EMBEDDING) == 0) {
        widths.output = graft_args_int(args, "embedding_dim", 0);
    } else if (widths.output == 0) {
        widths.output = graft_args_int(args, "hidden_size", widths.hidden);
    }
    return widths;
}

static int count(void *data, struct graft_node *node, struct graft_error *error) {
    size_t *nodes = data;
    (void)node;
    (void)error;
    (*nodes)++;
    return GRAFT_OK;
}

int graft_can_hook(const struct graft_node *node) {
    return node->made_by != NULL && graft_interface_find(node->made_by->cls->interface_id) != NULL;
}

static int hook(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_hook_handle *handle = data;
    const struct graft_forward_hooks *hooks = &handle->hooks;
    (void)error;
    if (node->module.forward == NULL || !graft_can_hook(node) ||
        (hooks->wants != NULL && !hooks->wants(hooks->data, node))) {
        return GRAFT_OK;
    }
    const struct graft_interface *interface = graft_interface_find(node->made_by->cls->interface_id);
    struct hooked_module *module = &handle->modules[handle->count++];
    *module = (struct hooked_module){{hooked_forward}, handle,    node,
                                     node->module,     interface, find_widths(handle->tree, node)};
    node->module.forward = interface->hook_vtable;
    node->module.instance = module;
    return GRAFT_OK;
}

int graft_has_forward_hook(const struct graft_node *node) {
    return node->module.forward != NULL && graft_can_hook(node) &&
           node->module.forward == graft_interface_find(node->made_by->cls->interface_id)->hook_vtable;
}

int graft_forward_hooks_register(struct graft_tree *tree, const struct graft_forward_hooks *hooks,
                                 struct graft_hook_handle **handle, struct graft_error *error) {
    size_t nodes = 0;
    (void)graft_tree_walk(tree, count, &nodes, NULL);
    struct graft_hook_handle *result = graft_alloc(1, sizeof *result);
    struct hooked_module *modules = graft_alloc(nodes, sizeof *modules);
    if (result == NULL || modules == NULL) {
        graft_free(modules);
        graft_free(result);
        return graft_fail_memory(error, "forward hooks");
    }
    *result = (struct graft_hook_handle){.tree = tree, .hooks = *hooks, .modules = modules};
    (void)graft_tree_walk(tree, hook, result, NULL);
    *handle = result;
    return GRAFT_OK;
}

void graft_forward_hooks_remove(struct graft_hook_handle *handle) {
    if (handle != NULL) {
        for (size_t i = 0; i < handle->count; i++) {
            handle->modules[i].node->module = handle->modules[i].original;
        }
        graft_free(handle->modules);
        graft_free(handle);
    }
}
