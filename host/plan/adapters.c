/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every tensor of every adapter takes effect. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "plan/plan.h"
#include "plan/sources.h"

/* The child with which the name begins, of the module or of a class that it wraps. */
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

/* The innermost module on the path of the tensor's name. */
static const struct graft_node *nearest(const struct graft_plan *plan, const char *name) {
    const struct graft_node *node = plan->tree->root, *next;
    while ((next = find_child(node, name)) != NULL) {
        name += strlen(next->name) + 1;
        node = next;
    }
    return node;
}

/* Whether another process has the module, and so also the adapter's tensors for it. */
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

/* Whether the module uses other tensors of adapters: then its replacement is not the reason why this tensor is
 * unused. */
static int applies_adapters(const struct graft_node *node) {
    static const char child[] = "adapter.";
    for (size_t i = 0; i < node->n_children; i++) {
        if (strncmp(node->children[i]->name, child, strlen(child)) == 0 ||
            strcmp(node->children[i]->name, "adapter") == 0) {
            return 1;
        }
    }
    return 0;
}

static int fail_unused(const struct graft_adapter *adapter, const struct graft_tensor_view *tensor,
                       const struct graft_node *node, struct graft_error *error) {
    const char *name = own_name(adapter, tensor), *path = node->path[0] != '\0' ? node->path : "the model";
    const char *plugin = node->known != NULL ? node->known->origin.plugin : NULL;
    if (node->n_children == 0 || applies_adapters(node)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->file,
                               "%.300s: nothing uses this tensor: %.300s is a %s", name, path, node->class_name);
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, tensor->file,
                          "%.300s: no module has this name: %.300s (%s) has no such child", name, path,
                          node->class_name);
    if (plugin != NULL) {
        graft_error_hint(error, "leave out the plugin %s, which replaced %.300s", plugin, path);
    }
    return GRAFT_ERROR_MODEL;
}

/* Whether a tensor is a leftover: for a module saved whole in a model with a resized vocabulary, PEFT also stores the
 * old weight and a second copy of the new one ("lm_head.original_module.weight"), and loads neither. They have no
 * effect where "lm_head.weight" is used. */
static int is_left_over(const struct graft_plan *plan, const struct graft_tensor_view *tensor) {
    static const char *const insertions[] = {".original_module.", ".modules_to_save."};
    char name[GRAFT_ADAPTER_TENSOR_NAME];
    for (size_t i = 0; i < sizeof insertions / sizeof insertions[0]; i++) {
        const char *at = strstr(tensor->name, insertions[i]);
        const char *rest = at != NULL ? at + strlen(insertions[i]) - 1 : NULL;
        const int length =
            at != NULL ? snprintf(name, sizeof name, "%.*s%s", (int)(at - tensor->name), tensor->name, rest) : 0;
        const struct graft_source *source =
            length > 0 && (size_t)length < sizeof name ? graft_sources_find(plan->sources, name) : NULL;
        if (source != NULL && source->used) {
            return 1;
        }
    }
    return 0;
}

/* Adds a hint on why plugins may recognise no tensor of an adapter. */
static void hint_at_names(const struct graft_plan *plan, const struct graft_adapter *adapter,
                          struct graft_error *error) {
    const struct graft_config *config = plan->tree->config != NULL ? &plan->tree->config->view : NULL;
    char field[GRAFT_ADAPTER_NAME + 32];
    (void)snprintf(field, sizeof field, "adapter.%s.peft_type", adapter->name);
    const char *type = config != NULL ? config->string(config->data, field) : NULL;
    graft_error_hint(error,
                     "its peft_type is %.40s; PEFT's save_pretrained writes names without the adapter's own, as in "
                     "\"...lora_A.weight\", and \"...lora_A.default.weight\" is not recognised",
                     type != NULL ? type : "not known");
}

static int check(const struct graft_plan *plan, const struct graft_adapter *adapter, struct graft_error *error) {
    size_t used = 0;
    const struct graft_tensor_view *unused = NULL;
    for (size_t i = 0; i < adapter->n_tensors; i++) {
        int is_used = graft_sources_find(plan->sources, adapter->tensors[i].name)->used ||
                      is_elsewhere(nearest(plan, own_name(adapter, &adapter->tensors[i]))) ||
                      is_left_over(plan, &adapter->tensors[i]);
        used += is_used != 0;
        unused = is_used || unused != NULL ? unused : &adapter->tensors[i];
    }
    if (unused == NULL) {
        return GRAFT_OK;
    }
    const struct graft_node *node = nearest(plan, own_name(adapter, unused));
    if (used == 0 && !graft_snapshot_applies_adapters(plan->tree->snapshot)) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, adapter->directory,
                              "nothing in this model applies the adapter \"%s\"", adapter->name);
        graft_error_hint(error, "load a plugin that does: lora, for an adapter of PEFT");
        return GRAFT_ERROR_MODEL;
    }
    int status = fail_unused(adapter, unused, node, error);
    if (used == 0) {
        hint_at_names(plan, adapter, error);
    }
    return status;
}

int graft_plan_check_adapters(const struct graft_plan *plan, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; plan->adapters != NULL && i < plan->adapters->n && status == GRAFT_OK; i++) {
        status = check(plan, &plan->adapters->items[i], error);
    }
    return status;
}
