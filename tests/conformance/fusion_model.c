/* SPDX-License-Identifier: Apache-2.0 */
/* Models invented for a case of fusion_mapping.json: modules at given paths, each with a `proj` of some kind. */
#include <stdio.h>
#include <string.h>

#include "../plugins/parts.h"
#include "fusion_mapping.h"
#include "graft/conv3d.h"
#include "graft/describe.h"
#include "graft/mlp.h"
#include "graft/patch_embed.h"
#include "owed_args.h"

/* --- proj: a layer that says of itself what the case does --- */

static const graft_json *member(const graft_json *proj, const char *name) {
    return graft_json_get(proj, name);
}

static int describe_attributes(const graft_json *proj, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const axes[] = {"kernel_size", "stride", "padding", "dilation"};
    static const int64_t defaults[] = {0, 1, 0, 1};
    int64_t groups = member(proj, "groups") != NULL ? graft_json_int(member(proj, "groups")) : 1;
    int status = sink->attribute(sink->data, "groups", &groups, 1, error);
    for (size_t i = 0; i < 4 && status == GRAFT_OK; i++) {
        const graft_json *given = member(proj, axes[i]);
        int64_t values[3];
        for (size_t k = 0; k < 3; k++) {
            values[k] = given != NULL ? graft_json_int(graft_json_at(given, k)) : defaults[i];
        }
        status = sink->attribute(sink->data, axes[i], values, 3, error);
    }
    return status;
}

/* Describes the kernel's sizes, which follow [out_channels, in_channels / groups]; a Linear has none. */
static int describe_proj(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const graft_json *proj = cls->data;
    const graft_json *kernel = member(proj, "kernel_size");
    int64_t groups = member(proj, "groups") != NULL ? graft_json_int(member(proj, "groups")) : 1;
    int64_t shape[5] = {graft_json_int(member(proj, "out_channels")),
                        graft_json_int(member(proj, "in_channels")) / groups};
    int32_t rank = 2 + (int32_t)graft_json_size(kernel);
    int has_bias = member(proj, "bias") == NULL || graft_json_bool(member(proj, "bias"));
    (void)config, (void)args;
    for (int32_t i = 2; i < rank && i < 5; i++) {
        shape[i] = graft_json_int(graft_json_at(kernel, (size_t)i - 2));
    }
    int status = graft_describe_parameter(sink, "weight", rank, shape, 0, GRAFT_INIT_NONE, error);
    if (status == GRAFT_OK && has_bias) {
        status = graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return status == GRAFT_OK && kernel != NULL ? describe_attributes(proj, sink, error) : status;
}

/* --- The module that holds it, and the model --- */

/* Interfaces of layers that are no Conv3d. */
static const char *interface_of(const graft_json *proj) {
    return strcmp(text_at(proj, "kind"), "Conv3d") == 0 ? GRAFT_INTERFACE_CONV3D : GRAFT_INTERFACE_LINEAR;
}

static int describe_module(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct made_class *made = cls->data;
    char name[MAX_MODULE_NAME];
    (void)config, (void)args;
    if (graft_json_type(made->proj) != GRAFT_JSON_OBJECT) {
        return GRAFT_OK;
    }
    (void)snprintf(name, sizeof name, "%sProj", made->name);
    return describe_owed_child(sink, "proj", name, interface_of(made->proj), error);
}

static int describe_model(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct made_model *model = cls->data;
    void *iterator = NULL;
    const char *path = NULL;
    const graft_json *module = NULL;
    int status = GRAFT_OK;
    (void)config, (void)args;
    while (status == GRAFT_OK && graft_json_next(model->modules, &iterator, &path, &module)) {
        const char *class_name = graft_json_string(graft_json_at(module, 0), NULL);
        status = describe_owed_child(sink, path, class_name, GRAFT_INTERFACE_PATCH_EMBED, error);
    }
    return status;
}

/* Classes are looked up by name: one for the module and one for its proj. */
static char proj_names[4 * MAX_MODULES][MAX_MODULE_NAME];
static struct graft_class proj_classes[4 * MAX_MODULES];
static size_t n_proj;

static int add_proj(const struct made_class *made, struct graft_registry *registry) {
    if (graft_json_type(made->proj) != GRAFT_JSON_OBJECT) {
        return 0;
    }
    size_t at = n_proj++ % (4 * MAX_MODULES);
    struct graft_class *cls = &proj_classes[at];
    (void)snprintf(proj_names[at], MAX_MODULE_NAME, "%sProj", made->name);
    *cls = good_class(NULL, 0);
    cls->name = proj_names[at];
    cls->interface_id = interface_of(made->proj);
    cls->describe = describe_proj;
    cls->data = made->proj;
    return graft_registry_add_class(registry, cls, NULL, 0, NULL) == GRAFT_OK ? 0 : -1;
}

static int add_class(struct made_model *model, const graft_json *module, struct graft_registry *registry) {
    const char *name = graft_json_string(graft_json_at(module, 0), NULL);
    for (size_t i = 0; i < model->n_classes; i++) {
        if (strcmp(model->classes[i].name, name) == 0) {
            return 0;
        }
    }
    if (model->n_classes == MAX_MODULES) {
        return -1;
    }
    struct made_class *made = &model->classes[model->n_classes++];
    *made = (struct made_class){.name = name, .proj = graft_json_at(module, 1)};
    made->cls = good_class(NULL, 0);
    made->cls.name = name;
    made->cls.interface_id = GRAFT_INTERFACE_PATCH_EMBED;
    made->cls.describe = describe_module;
    made->cls.data = made;
    if (graft_registry_add_class(registry, &made->cls, NULL, 0, NULL) != GRAFT_OK) {
        return -1;
    }
    return add_proj(made, registry);
}

int made_model_add(struct made_model *model, const char *name, const graft_json *modules,
                   struct graft_registry *registry) {
    void *iterator = NULL;
    const char *path = NULL;
    const graft_json *module = NULL;
    *model = (struct made_model){.modules = modules};
    model->root = good_class(NULL, 0);
    model->root.name = name;
    model->root.interface_id = GRAFT_INTERFACE_MLP;
    model->root.describe = describe_model;
    model->root.data = model;
    while (graft_json_next(modules, &iterator, &path, &module)) {
        if (add_class(model, module, registry) != 0) {
            return -1;
        }
    }
    return graft_registry_add_class(registry, &model->root, NULL, 0, NULL) == GRAFT_OK ? 0 : -1;
}

const struct graft_fused_modules *made_model_discover(const struct made_model *model, struct graft_registry *registry,
                                                      const graft_json *config, const graft_json *options,
                                                      struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    char file[] = "config.json";
    struct graft_model_config made = {
        .file = file,
        .document = (graft_json *)(uintptr_t)config,
        .model_type = "conformance_fusion",
        .view = graft_config_view(config, file),
    };
    const struct graft_tree_options tree = {.config = &made, .snapshot = snapshot, .class_name = model->root.name};
    const struct graft_fusion_choice choice = {graft_snapshot_fusion(snapshot, shipped_family()->name), options};
    const struct graft_fused_modules *discovery = NULL;
    (void)graft_fusion_find_modules(&tree, &choice, &discovery, error);
    graft_snapshot_release(snapshot);
    return discovery;
}
