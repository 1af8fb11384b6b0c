/* SPDX-License-Identifier: Apache-2.0 */
/* Whether adapters take effect with all that they have. */
#include <string.h>

#include "base/fail.h"
#include "plan/plan.h"
#include "plan/sources.h"

/* The child that the name begins with, of the module or of one that it calls. */
static struct graft_node *find_child(const struct graft_node *node, const char *name) {
    for (; node != NULL; node = node->super) {
        for (size_t i = 0; i < node->n_children; i++) {
            size_t length = strlen(node->children[i]->name);
            if (strncmp(node->children[i]->name, name, length) == 0 && name[length] == '.') {
                return node->children[i];
            }
        }
    }
    return NULL;
}

/* The innermost module that the tensor's name leads to. */
static const struct graft_node *nearest(const struct graft_plan *plan, const char *name) {
    const struct graft_node *node = plan->tree->root, *next;
    while ((next = find_child(node, name)) != NULL) {
        name += strlen(next->name) + 1;
        node = next;
    }
    return node;
}

/* Whether another process has the module, and with it what an adapter has for it. */
static int is_elsewhere(const struct graft_node *node) {
    while (node != NULL && !node->is_elsewhere) {
        node = node->super;
    }
    return node != NULL;
}

/* The tensor's name in the model, without "adapter.NAME.". */
static const char *own_name(const struct graft_adapter *adapter, const struct graft_tensor_view *tensor) {
    return tensor->name + strlen("adapter.") + strlen(adapter->name) + strlen(".");
}

static int fail_unused(const struct graft_adapter *adapter, const struct graft_tensor_view *tensor,
                       const struct graft_node *node, struct graft_error *error) {
    const char *name = own_name(adapter, tensor), *path = node->path[0] != '\0' ? node->path : "the model";
    const char *plugin = node->known != NULL ? node->known->origin.plugin : NULL;
    if (node->n_children == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->file, "%.300s: nothing takes it, %.300s is a %s", name,
                               path, node->class_name);
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, tensor->file, "%.300s: names no module, %.300s (%s) has none such",
                          name, path, node->class_name);
    if (plugin != NULL) {
        graft_error_hint(error, "leave out the plugin %s, which replaced %.300s", plugin, path);
    }
    return GRAFT_ERROR_MODEL;
}

static int check(const struct graft_plan *plan, const struct graft_adapter *adapter, struct graft_error *error) {
    size_t used = 0;
    const struct graft_tensor_view *unused = NULL;
    for (size_t i = 0; i < adapter->n_tensors; i++) {
        int is_used = graft_sources_find(plan->sources, adapter->tensors[i].name)->used ||
                      is_elsewhere(nearest(plan, own_name(adapter, &adapter->tensors[i])));
        used += is_used != 0;
        unused = is_used || unused != NULL ? unused : &adapter->tensors[i];
    }
    const struct graft_node *node = unused != NULL ? nearest(plan, own_name(adapter, unused)) : NULL;
    if (node != NULL && (used > 0 || node->n_children > 0)) {
        return fail_unused(adapter, unused, node, error);
    }
    if (used == 0) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, adapter->directory,
                              "nothing in this model applies the adapter \"%s\"", adapter->name);
        graft_error_hint(error, "load a plugin that does: lora, for an adapter of PEFT whose peft_type is LORA");
        return GRAFT_ERROR_MODEL;
    }
    return GRAFT_OK;
}

int graft_plan_check_adapters(const struct graft_plan *plan, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; plan->adapters != NULL && i < plan->adapters->n && status == GRAFT_OK; i++) {
        status = check(plan, &plan->adapters->items[i], error);
    }
    return status;
}
