/* SPDX-License-Identifier: Apache-2.0 */
#include "case_tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/mlp.h"
#include "owed_args.h"

/* The next component of `name` below a module: the child that contains it, or "" for a parameter of the module itself.
 * A number belongs to the name before it, as in lists. Returns 0 if `name` is not below the module. */
static int child_of(const char *path, const char *name, char child[CASE_PATH]) {
    size_t length = strlen(path);
    if (length > 0 && (strncmp(name, path, length) != 0 || name[length] != '.')) {
        return 0;
    }
    const char *below = length > 0 ? name + length + 1 : name;
    const char *dot = strchr(below, '.');
    if (dot != NULL && isdigit((unsigned char)dot[1]) && strchr(dot + 1, '.') != NULL) {
        dot = strchr(dot + 1, '.');
    }
    (void)snprintf(child, CASE_PATH, "%.*s", dot != NULL ? (int)(dot - below) : 0, below);
    return 1;
}

static const struct case_module *module_at(const struct case_tree *made, const char *path, const char *child) {
    char full[2 * CASE_PATH];
    (void)snprintf(full, sizeof full, "%s%s%s", path, path[0] != '\0' ? "." : "", child);
    for (size_t i = 0; i < made->n; i++) {
        if (strcmp(made->modules[i].path, full) == 0) {
            return &made->modules[i];
        }
    }
    return NULL;
}

static int describe_parameter(const struct graft_sink *sink, const char *name, const graft_json *sizes,
                              struct graft_error *error) {
    int64_t shape[GRAFT_MAX_RANK] = {0};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < graft_json_size(sizes) && i < GRAFT_MAX_RANK; i++) {
        shape[i] = graft_json_int(graft_json_at(sizes, i));
    }
    return graft_describe_parameter(sink, dot != NULL ? dot + 1 : name, (int32_t)graft_json_size(sizes), shape, 0,
                                    GRAFT_INIT_NONE, error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct case_module *self = cls->data;
    const char *done[CASE_MODULES];
    size_t n_done = 0;
    void *iterator = NULL;
    const char *name;
    const graft_json *value;
    int status = GRAFT_OK;
    (void)config;
    (void)args;
    while (status == GRAFT_OK && graft_json_next(self->of->params, &iterator, &name, &value)) {
        char child[CASE_PATH];
        if (!child_of(self->path, name, child)) {
            continue;
        }
        if (child[0] == '\0') {
            status = describe_parameter(sink, name, graft_json_at(value, 0), error);
            continue;
        }
        const struct case_module *module = module_at(self->of, self->path, child);
        size_t i = 0;
        while (i < n_done && done[i] != module->name) {
            i++;
        }
        if (i == n_done) {
            done[n_done++] = module->name;
            status = describe_owed_child(sink, child, module->name, GRAFT_INTERFACE_MLP, error);
        }
    }
    return status;
}

/* Makes a class for a module, and for the modules below it. */
static int add_module(struct case_tree *made, const char *path, struct graft_error *error) {
    void *iterator = NULL;
    const char *name;
    const graft_json *value;
    int status = GRAFT_OK;
    if (made->n == CASE_MODULES) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, path, "more modules than this runner takes");
    }
    struct case_module *module = &made->modules[made->n];
    (void)snprintf(module->name, sizeof module->name, "Case%zu", made->n++);
    (void)snprintf(module->path, sizeof module->path, "%s", path);
    module->of = made;
    module->cls = (struct graft_class){.struct_size = sizeof module->cls,
                                       .name = module->name,
                                       .interface_id = GRAFT_INTERFACE_MLP,
                                       .describe = describe,
                                       .create = graft_create_stateless,
                                       .forward = "",
                                       .data = module};
    status = graft_registry_add_class(made->registry, &module->cls, NULL, 0, error);
    while (status == GRAFT_OK && graft_json_next(made->params, &iterator, &name, &value)) {
        char child[CASE_PATH], full[2 * CASE_PATH];
        if (child_of(path, name, child) && child[0] != '\0' && module_at(made, path, child) == NULL) {
            (void)snprintf(full, sizeof full, "%s%s%s", path, path[0] != '\0' ? "." : "", child);
            status = add_module(made, full, error);
        }
    }
    return status;
}

int case_tree_init(struct case_tree *made, const graft_json *params, struct graft_error *error) {
    memset(made, 0, sizeof *made);
    made->params = params;
    made->registry = graft_registry_create(NULL);
    made->config.file = (char *)(uintptr_t) "config.json";
    made->config.model_type = "conformance";
    made->config.view = graft_config_view(NULL, made->config.file);
    if (made->registry == NULL) {
        return graft_fail_memory(error, "registry");
    }
    int status = add_module(made, "", error);
    struct graft_snapshot *snapshot = graft_registry_snapshot(made->registry);
    struct graft_tree_options options = {.config = &made->config, .snapshot = snapshot, .class_name = "Case0"};
    if (status == GRAFT_OK) {
        status = graft_tree_build(&options, &made->tree, error);
    }
    graft_snapshot_release(snapshot);
    return status;
}

void case_tree_finish(struct case_tree *made) {
    graft_tree_free(made->tree);
    graft_registry_free(made->registry);
}
