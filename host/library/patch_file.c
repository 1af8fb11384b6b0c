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

static int set_class(struct graft_patch *element, const struct json_place *place, const char *name,
                     const struct graft_snapshot *snapshot, struct graft_error *error) {
    element->replacement = find_class(snapshot, name);
    if (element->replacement == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s: there is no class \"%.100s\"", place->field,
                              name);
        graft_error_hint(error,
                         "graft_library_classes lists the host's classes; a plugin's are known once it is loaded");
        return GRAFT_ERROR_USAGE;
    }
    return GRAFT_OK;
}

static int compile(const char *pattern, const struct json_place *place, struct graft_error *error) {
    char where[2 * MAX_PLACE];
    struct graft_regex *regex = NULL;
    (void)snprintf(where, sizeof where, "%s: %s", place->file, place->field);
    int status = graft_regex_compile(pattern, strlen(pattern), where, GRAFT_ERROR_USAGE, &regex, error);
    graft_regex_free(regex);
    return status;
}

/* Reads {"class": ..., "module_path": ..., "model_types": [...]}. */
static int read_element(const struct json_place *place, const graft_json *value, struct patch_file *file,
                        const struct graft_snapshot *snapshot, struct graft_error *error) {
    static const char *const fields[] = {"class", "module_path", "model_types", NULL};
    struct graft_patch *element = &file->classes[file->n_classes];
    const char *name = NULL;
    size_t n;
    int status = graft_json_place_only(place, value, fields, error);
    if (status == GRAFT_OK) {
        status = graft_json_place_string(place, value, "class", &name, error);
    }
    if (status == GRAFT_OK && name == NULL) {
        status = graft_json_place_wrong(place, "class", "a class name", graft_json_get(value, "class"), error);
    }
    if (status == GRAFT_OK) {
        status = graft_json_place_string(place, value, "module_path", &element->module_path, error);
    }
    if (status == GRAFT_OK && element->module_path != NULL) {
        status = compile(element->module_path, place, error);
    }
    if (status == GRAFT_OK && graft_json_get(value, "model_types") != NULL) {
        status = graft_json_place_strings(place, value, "model_types", &file->model_types[file->n_classes], &n, error);
        element->model_types = file->model_types[file->n_classes];
    }
    return status == GRAFT_OK ? set_class(element, place, name, snapshot, error) : status;
}

static int read_classes(struct patch_file *file, const char *path, const struct graft_snapshot *snapshot,
                        struct graft_error *error) {
    const struct json_place top = {path, ""};
    const graft_json *classes = graft_json_get(file->document, "classes"), *value;
    void *iterator = NULL;
    const char *key;
    int status = GRAFT_OK;
    if (classes == NULL) {
        return GRAFT_OK;
    }
    if (graft_json_type(classes) != GRAFT_JSON_OBJECT || graft_json_size(classes) > MAX_ELEMENTS) {
        return graft_json_place_wrong(&top, "classes", "an object of class names", classes, error);
    }
    file->classes = graft_alloc(graft_json_size(classes), sizeof *file->classes);
    file->model_types = graft_alloc(graft_json_size(classes), sizeof(const char **));
    if (file->classes == NULL || file->model_types == NULL) {
        return graft_fail_memory(error, path);
    }
    while (status == GRAFT_OK && graft_json_next(classes, &iterator, &key, &value)) {
        char field[MAX_PLACE];
        (void)snprintf(field, sizeof field, "classes.%.100s", key);
        const struct json_place place = {path, field};
        file->classes[file->n_classes].struct_size = sizeof file->classes[0];
        file->classes[file->n_classes].key = key;
        status =
            graft_json_type(value) == GRAFT_JSON_STRING
                ? set_class(&file->classes[file->n_classes], &place, graft_json_string(value, NULL), snapshot, error)
                : read_element(&place, value, file, snapshot, error);
        file->n_classes++;
    }
    return status;
}

static int read_without(struct patch_file *file, const char *path, struct graft_error *error) {
    const struct json_place top = {path, ""};
    size_t n = 0;
    if (graft_json_get(file->document, "without") == NULL) {
        return GRAFT_OK;
    }
    int status = graft_json_place_strings(&top, file->document, "without", &file->without, &n, error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        char field[MAX_PLACE];
        (void)snprintf(field, sizeof field, "without[%zu]", i);
        const struct json_place place = {path, field};
        status = compile(file->without[i], &place, error);
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

static int read_conversions(struct patch_file *file, const char *path, const struct graft_snapshot *snapshot,
                            struct graft_error *error) {
    const struct json_place top = {path, ""};
    const graft_json *array = graft_json_get(file->document, "conversions");
    struct key_list compiled;
    char where[MAX_PLACE];
    int status = GRAFT_OK;
    if (array != NULL && (graft_json_type(array) != GRAFT_JSON_ARRAY || graft_json_size(array) > MAX_ELEMENTS)) {
        return graft_json_place_wrong(&top, "conversions", "an array of transforms", array, error);
    }
    if (array != NULL) {
        status = collect_operations(file, path, snapshot, error);
    }
    for (size_t i = 0; i < graft_json_size(array) && status == GRAFT_OK; i++) {
        char field[MAX_PLACE];
        (void)snprintf(field, sizeof field, "conversions[%zu]", i);
        status = graft_transform_read(graft_json_at(array, i), path, field, &file->transforms, error);
    }
    (void)snprintf(where, sizeof where, "%s: conversions", path);
    if (status == GRAFT_OK) {
        status = graft_key_list_init(&compiled, file->transforms.items, file->transforms.n, where, NULL, error);
    }
    if (status == GRAFT_OK) {
        graft_key_list_finish(&compiled);
    }
    return status;
}

int graft_patch_file_take(graft_json *document_take, const char *path, const struct graft_snapshot *snapshot,
                          struct patch_file *file, struct graft_error *error) {
    static const char *const fields[] = {"$schema", "classes", "without", "conversions", NULL};
    const struct json_place top = {path, ""};
    *file = (struct patch_file){.document = document_take};
    int status = graft_json_place_only(&top, file->document, fields, error);
    if (status == GRAFT_OK) {
        status = read_classes(file, path, snapshot, error);
    }
    if (status == GRAFT_OK) {
        status = read_without(file, path, error);
    }
    if (status == GRAFT_OK) {
        status = read_conversions(file, path, snapshot, error);
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
        status = graft_patch_file_take(document, path, snapshot, file, &cause);
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
