/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes the module tree for graft/host/modules.h. */
#include "base/fail.h"
#include "library/library.h"

const struct graft_named_module *graft_published_module(const struct graft_model *model,
                                                        const struct graft_node *node) {
    return node != NULL ? &model->published.modules[node->index] : NULL;
}

static int set_children(struct graft_model *model, const struct graft_node *node, struct graft_named_module *module) {
    const struct graft_named_module **children =
        graft_arena_take(&model->published.arena, node->n_children, sizeof *children);
    for (size_t i = 0; i < node->n_children && children != NULL; i++) {
        children[i] = graft_published_module(model, node->children[i]);
    }
    module->children = children;
    module->n_children = node->n_children;
    return children != NULL ? 0 : -1;
}

static int set_attributes(struct graft_model *model, const struct graft_node *node, struct graft_named_module *module) {
    struct graft_arena *arena = &model->published.arena;
    const struct graft_module_attribute **attributes = graft_arena_alloc(arena, node->n_attributes, sizeof *attributes);
    struct graft_module_attribute *items = graft_arena_alloc(arena, node->n_attributes, sizeof *items);
    if (attributes == NULL || items == NULL) {
        return -1;
    }
    for (size_t i = 0; i < node->n_attributes; i++) {
        const struct graft_attribute *attribute = &node->attributes[i];
        items[i] = (struct graft_module_attribute){
            .struct_size = sizeof items[i],
            .count = attribute->count,
            .name = attribute->name,
            .values = attribute->values,
        };
        attributes[i] = &items[i];
    }
    module->attributes = attributes;
    module->n_attributes = node->n_attributes;
    return 0;
}

static int set_states(struct graft_model *model, const struct graft_node *node, struct graft_named_module *module) {
    struct graft_arena *arena = &model->published.arena;
    const struct graft_module_state **states = graft_arena_alloc(arena, node->n_states, sizeof *states);
    struct graft_module_state *items = graft_arena_alloc(arena, node->n_states, sizeof *items);
    if (states == NULL || items == NULL) {
        return -1;
    }
    for (size_t i = 0; i < node->n_states; i++) {
        const struct graft_node_state *state = &node->states[i];
        items[i] = (struct graft_module_state){
            .struct_size = sizeof items[i],
            .rank = state->rank,
            .name = state->name,
            .shape = state->shape,
            .dtype = state->dtype,
        };
        states[i] = &items[i];
    }
    module->states = states;
    module->n_states = node->n_states;
    return 0;
}

/* Sets attributes and states, which a module shares with an earlier one that it is like. */
static int set_facts(struct graft_model *model, const struct graft_node *node, struct graft_named_module *module) {
    if (node->like == NULL || node->like->index > node->index) {
        return set_attributes(model, node, module) != 0 || set_states(model, node, module) != 0 ? -1 : 0;
    }
    const struct graft_named_module *like = graft_published_module(model, node->like);
    module->attributes = like->attributes;
    module->n_attributes = like->n_attributes;
    module->states = like->states;
    module->n_states = like->n_states;
    return 0;
}

static void set_class(const struct graft_model *model, const struct graft_node *node,
                      struct graft_named_module *module) {
    const struct graft_known_class *known = node->known;
    if (known == NULL) {
        module->flags |= GRAFT_MODULE_LIST;
        return;
    }
    module->cls = known->cls;
    module->arguments = &node->args;
    module->interface_id = known->cls->interface_id;
    module->plugin = known->origin.plugin;
    module->file = known->origin.file;
    if (node->original != NULL) {
        const struct graft_implementation *kernel = graft_snapshot_kernel_of(model->tree->snapshot, known->cls);
        module->original_class = node->original->cls->name;
        module->kernel = kernel != NULL ? kernel->name : NULL;
    }
    if (node->kernel_on != NULL) {
        module->kernel_on = node->kernel_on->cls->name;
        module->kernel_on_plugin = node->kernel_on->origin.plugin;
        module->kernel_on_file = node->kernel_on->origin.file;
    }
}

static int fill(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_model *model = data;
    struct graft_named_module *module = &model->published.modules[node->index];
    *module = (struct graft_named_module){
        .struct_size = sizeof *module,
        .flags = node->wrapper != NULL ? GRAFT_MODULE_SUPER : 0,
        .path = node->path,
        .name = node->name,
        .class_name = node->class_name,
        .parent = graft_published_module(model, node->parent),
        .super = graft_published_module(model, node->super),
    };
    set_class(model, node, module);
    int failed = set_children(model, node, module) != 0 || set_facts(model, node, module) != 0;
    return failed ? graft_fail_memory(error, model->directory) : GRAFT_OK;
}

int graft_publish_modules(struct graft_model *model, struct graft_error *error) {
    struct graft_published *published = &model->published;
    published->n_modules = model->survey.n_modules;
    published->modules = graft_arena_take(&published->arena, published->n_modules, sizeof *published->modules);
    return published->modules != NULL ? graft_tree_walk(model->tree, fill, model, error)
                                      : graft_fail_memory(error, model->directory);
}

const struct graft_named_module *graft_model_module(const struct graft_model *model, size_t i) {
    return i < model->published.n_modules ? &model->published.modules[i] : NULL;
}

const struct graft_named_module *graft_model_find_module(const struct graft_model *model, const char *path) {
    return graft_published_module(model, graft_node_find(model->tree->root, path));
}
