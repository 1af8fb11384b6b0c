/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the adapter that each prompt names. */
#include <string.h>

#include "graft/batch.h"
#include "library/library.h"

static int unknown(const struct graft_model *model, size_t i, const char *name, struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, "adapter", "prompt %zu: there is no adapter \"%.64s\"", i + 1,
                          name);
    if (model->adapters.n > 0) {
        graft_error_hint(error, "the first is %s; %s is the model without any", model->adapters.items[0].name,
                         GRAFT_BASE_MODEL);
    }
    return GRAFT_ERROR_USAGE;
}

static int find(const struct graft_model *model, size_t i, const char *name, int32_t *adapter,
                struct graft_error *error) {
    *adapter = name == NULL ? GRAFT_ADAPTER_ALL : GRAFT_ADAPTER_NONE;
    if (name == NULL || strcmp(name, GRAFT_BASE_MODEL) == 0) {
        return GRAFT_OK;
    }
    const struct graft_adapter *found = graft_adapters_named(&model->adapters, name, strlen(name));
    if (found == NULL) {
        return unknown(model, i, name, error);
    }
    *adapter = (int32_t)(found - model->adapters.items);
    return GRAFT_OK;
}

/* Checks that a module applies adapters by row. Parts of adapters are children called "adapter", or, for a part of the
 * module, below the part's name. */
static int check_module(void *data, struct graft_node *node, struct graft_error *error) {
    (void)data;
    if (node->known != NULL || node->parent == NULL || strcmp(node->name, "adapter") != 0) {
        return GRAFT_OK;
    }
    const struct graft_node *owner = node->parent;
    while (owner->known == NULL) {
        owner = owner->parent;
    }
    for (size_t i = 0; i < owner->n_attributes; i++) {
        if (strcmp(owner->attributes[i].name, "adapters_by_row") == 0 && owner->attributes[i].values[0] != 0) {
            return GRAFT_OK;
        }
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, owner->path,
                          "%s applies its adapters to all prompts: none can be chosen for one", owner->class_name);
    graft_error_hint(error, "an adapter that is merged with the weights is one of those");
    return GRAFT_ERROR_USAGE;
}

/* Refuses adapters that replace a weight of the model, because this affects all prompts. */
static int check_weights(const struct graft_model *model, struct graft_error *error) {
    for (size_t i = 0; i < model->plan->n_bindings; i++) {
        const struct graft_binding *binding = &model->plan->bindings[i];
        if (binding->from_adapter && binding->status == GRAFT_BINDING_FOUND) {
            (void)graft_error_set(error, GRAFT_ERROR_USAGE, binding->parameter->name,
                                  "an adapter changes this weight of the model for all prompts: none can be chosen for "
                                  "one");
            return GRAFT_ERROR_USAGE;
        }
    }
    return GRAFT_OK;
}

int graft_model_find_adapters(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              int32_t *adapters, struct graft_error *error) {
    int status = GRAFT_OK, chooses = 0;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_prompt *prompt = graft_struct_at(prompts, i);
        adapters[i] = GRAFT_ADAPTER_ALL;
        status = find(model, i, prompt->adapter, &adapters[i], error);
        chooses |= adapters[i] != GRAFT_ADAPTER_ALL;
    }
    if (status == GRAFT_OK && chooses) {
        status = check_weights(model, error);
    }
    return status == GRAFT_OK && chooses ? graft_tree_walk(model->tree, check_module, NULL, error) : status;
}
