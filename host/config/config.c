/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "config/path.h"

enum { MAX_CONFIG_BYTES = 16 << 20, MAX_KEY = 128 };

static const graft_json *find(const void *document, const char *path) {
    return graft_path_find(document, path, NULL);
}

static int32_t kind(const void *document, const char *path) {
    const graft_json *value = find(document, path);
    switch (graft_json_type(value)) {
    case GRAFT_JSON_BOOL:
        return GRAFT_FIELD_BOOL;
    case GRAFT_JSON_INT:
        return GRAFT_FIELD_INT;
    case GRAFT_JSON_REAL:
        return GRAFT_FIELD_REAL;
    case GRAFT_JSON_STRING:
        return GRAFT_FIELD_STRING;
    case GRAFT_JSON_ARRAY:
        return GRAFT_FIELD_ARRAY;
    case GRAFT_JSON_OBJECT:
        return graft_path_float(value) != NULL ? GRAFT_FIELD_REAL : GRAFT_FIELD_OBJECT;
    case GRAFT_JSON_NULL:
        return GRAFT_FIELD_NULL;
    default:
        return GRAFT_FIELD_ABSENT;
    }
}

static int64_t integer(const void *document, const char *path) {
    const graft_json *value = find(document, path);
    return graft_json_type(value) == GRAFT_JSON_BOOL ? graft_json_bool(value) : graft_json_int(value);
}

static double real(const void *document, const char *path) {
    const graft_json *value = find(document, path);
    const char *number = graft_path_float(value);
    return number != NULL ? strtod(number, NULL) : graft_json_real(value);
}

static const char *string(const void *document, const char *path) {
    return graft_json_string(find(document, path), NULL);
}

static int64_t size(const void *document, const char *path) {
    return (int64_t)graft_json_size(find(document, path));
}

static const char *key_at(const void *document, const char *path, int64_t i) {
    const char *key = NULL;
    return i >= 0 && graft_json_member(find(document, path), (size_t)i, &key) != NULL ? key : NULL;
}

static const char *spelling(const void *document, const char *path) {
    (void)document;
    return path;
}

struct graft_config graft_config_view(const graft_json *document, const char *file) {
    return (struct graft_config){
        .struct_size = sizeof(struct graft_config),
        .file = file,
        .data = document,
        .kind = kind,
        .integer = integer,
        .real = real,
        .string = string,
        .size = size,
        .spelling = spelling,
        .key = key_at,
    };
}

static int is_c_string(const graft_json *value) {
    size_t length = 0;
    const char *bytes = graft_json_string(value, &length);
    return bytes == NULL || strlen(bytes) == length;
}

/* Whether any string contains a NUL. The parser limits the depth. */
static int has_cut_string(const graft_json *value) {
    const graft_json *member = NULL;
    const char *key = NULL;
    void *iterator = NULL;
    int is_array = graft_json_type(value) == GRAFT_JSON_ARRAY;
    for (size_t i = 0; is_array && i < graft_json_size(value); i++) {
        if (has_cut_string(graft_json_at(value, i))) {
            return 1;
        }
    }
    while (graft_json_type(value) == GRAFT_JSON_OBJECT && graft_json_next(value, &iterator, &key, &member)) {
        if (has_cut_string(member)) {
            return 1;
        }
    }
    return !is_c_string(value);
}

int graft_config_check_object(const graft_json *document, const char *file, struct graft_error *error) {
    return graft_json_type(document) != GRAFT_JSON_OBJECT
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file, "expected an object, got %s",
                                 graft_json_type_name(document))
               : GRAFT_OK;
}

int graft_config_check_document(const graft_json *document, const char *file, struct graft_error *error) {
    int status = graft_config_check_object(document, file, error);
    return status == GRAFT_OK && has_cut_string(document)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file, "a string contains a NUL character")
               : status;
}

/* Reads `architectures`. All names are checked, although only the first one says what to build. */
static int read_architectures(struct graft_model_config *config, struct graft_error *error) {
    const struct graft_config *view = &config->view;
    const graft_json *names = graft_json_get(config->document, "architectures");
    if (!graft_config_has(view, "architectures")) {
        return GRAFT_OK;
    }
    if (graft_json_type(names) != GRAFT_JSON_ARRAY) {
        return graft_config_expected(view, "architectures", "an array of strings", error);
    }
    for (size_t i = 0; i < graft_json_size(names); i++) {
        if (graft_json_type(graft_json_at(names, i)) != GRAFT_JSON_STRING) {
            char path[MAX_KEY];
            (void)snprintf(path, sizeof path, "architectures.%zu", i);
            return graft_config_expected(view, path, "a string", error);
        }
    }
    config->architecture = view->string(view->data, "architectures.0");
    return GRAFT_OK;
}

static int read_identity(struct graft_model_config *config, struct graft_error *error) {
    const struct graft_config *view = &config->view;
    if (!graft_config_has(view, "model_type")) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "model_type: missing, expected a string");
        graft_error_hint(error, "add the field: it says which family of models this is, such as \"llama\" or \"bert\"");
        return GRAFT_ERROR_MODEL;
    }
    int status = graft_config_string(view, "model_type", &config->model_type, error);
    return status == GRAFT_OK ? read_architectures(config, error) : status;
}

int graft_model_config_read(const char *directory, const struct graft_ignored_names *ignored,
                            struct graft_model_config **config, struct graft_error *error) {
    struct graft_model_config *result = graft_alloc(1, sizeof *result);
    int status = result != NULL ? graft_model_file_read(directory, "config.json", MAX_CONFIG_BYTES, ignored,
                                                        &result->source, error)
                                : graft_fail_memory(error, directory);
    if (status == GRAFT_OK) {
        result->file = result->source->file;
        result->document = result->source->json;
        result->whole = result->source->view;
        result->view = result->whole;
        status = read_identity(result, error);
    }
    if (status != GRAFT_OK) {
        graft_model_config_free(result);
        return status;
    }
    *config = result;
    return GRAFT_OK;
}

/* The member `name` of the document, which is `fresh_take` for the first adapter; config.json must not have such a
 * member. */
static int own_member(struct graft_model_config *config, const char *name, graft_json *fresh_take, graft_json **own,
                      struct graft_error *error) {
    int is_first = config->n_adapters == 0;
    const graft_json *there = graft_json_get(config->document, name);
    if (!is_first || there != NULL) {
        graft_json_free(fresh_take);
        *own = (graft_json *)(uintptr_t)there;
        return !is_first ? GRAFT_OK
                         : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                           "%s: a field of this name hides those of adapters", name);
    }
    *own = fresh_take;
    return graft_json_set_take(config->document, name, fresh_take) == 0 ? GRAFT_OK
                                                                        : graft_fail_memory(error, config->file);
}

static int add_adapter(struct graft_model_config *config, const char *name, const char *directory, double scale,
                       graft_json *document_take, struct graft_error *error) {
    graft_json *list = NULL, *documents = NULL;
    int status = own_member(config, "adapters", graft_json_new_array(), &list, error);
    if (status == GRAFT_OK) {
        status = own_member(config, "adapter", graft_json_new_object(), &documents, error);
    }
    if (status != GRAFT_OK) {
        graft_json_free(document_take);
        return status;
    }
    graft_json *entry = graft_json_new_object();
    int failed = graft_json_set_take(documents, name, document_take) != 0;
    failed |= graft_json_set_take(entry, "name", graft_json_new_string(name)) != 0;
    failed |= graft_json_set_take(entry, "directory", graft_json_new_string(directory)) != 0;
    failed |= graft_json_set_take(entry, "scale", graft_json_new_real(scale)) != 0;
    failed |= graft_json_append_take(list, entry) != 0;
    config->n_adapters++;
    return failed ? graft_fail_memory(error, directory) : GRAFT_OK;
}

int graft_model_config_add_adapter(struct graft_model_config *config, const char *name, const char *directory,
                                   double scale, const struct graft_ignored_names *ignored, struct graft_error *error) {
    char *path = graft_path_join(directory, "adapter_config.json");
    char *below = graft_format("adapter.%s", name);
    graft_json *document = NULL;
    int status = path != NULL && below != NULL ? graft_json_read(path, MAX_CONFIG_BYTES, &document, error)
                                               : graft_fail_memory(error, directory);
    if (status == GRAFT_OK) {
        status = graft_config_check_document(document, path, error);
    }
    if (status == GRAFT_OK) {
        status = add_adapter(config, name, directory, scale, document, error);
        document = NULL;
    }
    if (status == GRAFT_OK) {
        status = graft_model_file_ignore(config->source, below, ignored, error);
    }
    graft_json_free(document);
    graft_free(below);
    graft_free(path);
    return status;
}

void graft_model_config_free(struct graft_model_config *config) {
    if (config != NULL) {
        graft_model_file_free(config->source);
        graft_free(config);
    }
}
