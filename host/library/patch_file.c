/* SPDX-License-Identifier: Apache-2.0 */
#include "library/patch_file.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/regex.h"
#include "names/key_list.h"
#include "registry/operations.h"

enum { MAX_FILE_BYTES = 4 << 20, MAX_PLACE = 512, MAX_ELEMENTS = 4096 };

/* The class of that name: a known class, or one with which a plugin replaces others. */
static const struct graft_class *find_class(const struct graft_snapshot *snapshot, const char *name) {
    const struct graft_known_class *known = graft_snapshot_class(snapshot, name, NULL);
    const struct graft_known_plugin *plugin;
    if (known != NULL) {
        return known->cls;
    }
    for (size_t i = 0; (plugin = graft_snapshot_plugin_at(snapshot, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_replacements; k++) {
            const struct graft_class *cls = graft_plugin_replacement(plugin->descriptor, k)->replacement;
            if (strcmp(cls->name, name) == 0) {
                return cls;
            }
        }
    }
    return NULL;
}

static int set_class(struct graft_patch *element, const struct graft_field *field, const char *name,
                     const struct graft_snapshot *snapshot, struct graft_error *error) {
    element->replacement = find_class(snapshot, name);
    if (element->replacement == NULL) {
        int status = graft_field_error(field, error, "there is no class \"%.100s\"", name);
        graft_error_hint(error,
                         "graft_library_classes lists the host's classes; a plugin's are known once it is loaded");
        return status;
    }
    return GRAFT_OK;
}

static int compile(const char *pattern, const struct graft_field *field, struct graft_error *error) {
    char path[MAX_PLACE], where[2 * MAX_PLACE];
    struct graft_regex *regex = NULL;
    graft_field_path(field, path, sizeof path);
    (void)snprintf(where, sizeof where, "%s: %s", field->file, path);
    int status = graft_regex_compile(pattern, strlen(pattern), where, GRAFT_ERROR_MODEL, &regex, error);
    graft_regex_free(regex);
    return status;
}

/* Reads {"class": ..., "module_path": ..., "model_types": [...]}. */
static int read_element(const struct graft_field *field, struct patch_file *file, const struct graft_snapshot *snapshot,
                        struct graft_error *error) {
    struct fields {
        const char *class_name, *module_path;
        const graft_json *model_types;
    } fields = {0};
    static const struct graft_member members[] = {
        {"class", .offset = offsetof(struct fields, class_name)},
        {"module_path", .offset = offsetof(struct fields, module_path), .is_optional = 1},
        {"model_types", GRAFT_MEMBER_ANY, .offset = offsetof(struct fields, model_types), .is_optional = 1},
        {0},
    };
    struct graft_patch *element = &file->classes[file->n_classes];
    size_t n;
    int status = graft_field_read(field, members, &fields, error);
    element->module_path = fields.module_path;
    if (status == GRAFT_OK && element->module_path != NULL) {
        status = compile(element->module_path, field, error);
    }
    if (status == GRAFT_OK && fields.model_types != NULL) {
        status = graft_field_strings(field, "model_types", &file->model_types[file->n_classes], &n, error);
        element->model_types = file->model_types[file->n_classes];
    }
    return status == GRAFT_OK ? set_class(element, field, fields.class_name, snapshot, error) : status;
}

static int read_classes(struct patch_file *file, const struct graft_field *root, const struct graft_snapshot *snapshot,
                        struct graft_error *error) {
    const struct graft_field classes = graft_field_get(root, "classes");
    const size_t n = graft_json_size(classes.value);
    struct graft_field field;
    void *iterator = NULL;
    int status = GRAFT_OK;
    if (classes.value == NULL) {
        return GRAFT_OK;
    }
    if (graft_json_type(classes.value) != GRAFT_JSON_OBJECT || n > MAX_ELEMENTS) {
        return graft_field_wrong(&classes, "an object of at most 4096 class names", error);
    }
    file->classes = graft_alloc(n, sizeof *file->classes);
    file->model_types = graft_alloc(n, sizeof(const char **));
    if (file->classes == NULL || file->model_types == NULL) {
        return graft_fail_memory(error, root->file);
    }
    while (status == GRAFT_OK && graft_field_next(&classes, &iterator, &field)) {
        const char *name = graft_json_string(field.value, NULL);
        file->classes[file->n_classes].struct_size = sizeof file->classes[0];
        file->classes[file->n_classes].key = field.key;
        status = name != NULL ? set_class(&file->classes[file->n_classes], &field, name, snapshot, error)
                              : read_element(&field, file, snapshot, error);
        file->n_classes++;
    }
    return status;
}

static int read_without(struct patch_file *file, const struct graft_field *root, struct graft_error *error) {
    const struct graft_field without = graft_field_get(root, "without");
    size_t n = 0;
    if (without.value == NULL) {
        return GRAFT_OK;
    }
    int status = graft_field_strings(root, "without", &file->without, &n, error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_field element = graft_field_at(&without, i);
        status = compile(file->without[i], &element, error);
    }
    file->patch.n_without = n;
    return status;
}

/* Collects the operations that plugins list. */
static int collect_operations(struct patch_file *file, const char *path, const struct graft_snapshot *snapshot,
                              struct graft_error *error) {
    struct transforms_read *transforms = &file->transforms;
    struct graft_named_operation found;
    size_t capacity = 0;
    while (graft_snapshot_operation_at(snapshot, transforms->n_operations, &found)) {
        if (graft_grow(&file->operations, &capacity, transforms->n_operations, sizeof found) != 0) {
            return graft_fail_memory(error, path);
        }
        file->operations[transforms->n_operations++] = found;
    }
    transforms->operations = file->operations;
    return GRAFT_OK;
}

static int read_conversions(struct patch_file *file, const struct graft_field *root,
                            const struct graft_snapshot *snapshot, struct graft_error *error) {
    const struct graft_field array = graft_field_get(root, "conversions");
    const size_t n = graft_json_size(array.value);
    struct key_list compiled;
    char where[MAX_PLACE];
    int status = GRAFT_OK;
    if (array.value != NULL && (graft_json_type(array.value) != GRAFT_JSON_ARRAY || n > MAX_ELEMENTS)) {
        return graft_field_wrong(&array, "an array of at most 4096 transforms", error);
    }
    if (array.value != NULL) {
        status = collect_operations(file, root->file, snapshot, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_field transform = graft_field_at(&array, i);
        status = graft_transform_read(&transform, &file->transforms, error);
    }
    (void)snprintf(where, sizeof where, "%s: conversions", root->file);
    if (status == GRAFT_OK) {
        status = graft_key_list_init(&compiled, file->transforms.items, file->transforms.n, where, NULL, error);
    }
    if (status == GRAFT_OK) {
        graft_key_list_finish(&compiled);
    }
    return status;
}

static int read_document(graft_json *document_take, const char *path, const struct graft_snapshot *snapshot,
                         struct patch_file *file, struct graft_error *error) {
    static const char *const fields[] = {"$schema", "classes", "without", "conversions", NULL};
    const struct graft_field root = graft_field_root(document_take, path);
    *file = (struct patch_file){.document = document_take};
    int status = graft_field_object(&root, fields, error);
    if (status == GRAFT_OK) {
        status = read_classes(file, &root, snapshot, error);
    }
    if (status == GRAFT_OK) {
        status = read_without(file, &root, error);
    }
    if (status == GRAFT_OK) {
        status = read_conversions(file, &root, snapshot, error);
    }
    file->patch.struct_size = sizeof file->patch;
    file->patch.classes = file->classes;
    file->patch.n_classes = file->n_classes;
    file->patch.without = file->without;
    file->patch.conversions = file->transforms.items;
    file->patch.n_conversions = file->transforms.n;
    return status;
}

int graft_patch_file_read(const char *path, const struct graft_snapshot *snapshot, struct patch_file *file,
                          struct graft_error *error) {
    graft_json *document = NULL;
    struct graft_error cause = graft_error_none();
    *file = (struct patch_file){0};
    int status = graft_json_read_strict(path, MAX_FILE_BYTES, &document, &cause);
    if (status == GRAFT_OK) {
        status = read_document(document, path, snapshot, file, &cause);
    }
    if (status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL) {
        return status == GRAFT_OK ? GRAFT_OK : graft_fail_memory(error, path);
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, cause.source, "%s", cause.message);
    if (cause.hint[0] != '\0') {
        graft_error_hint(error, "%s", cause.hint);
    }
    return GRAFT_ERROR_MODEL;
}

void graft_patch_file_finish(struct patch_file *file) {
    for (size_t i = 0; file->model_types != NULL && i < file->n_classes; i++) {
        graft_free(file->model_types[i]);
    }
    graft_free(file->model_types);
    graft_free(file->classes);
    graft_free(file->without);
    graft_transforms_read_finish(&file->transforms);
    graft_free(file->operations);
    graft_json_free(file->document);
    *file = (struct patch_file){0};
}
