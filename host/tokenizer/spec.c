/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

struct graft_spec graft_spec_get(const struct graft_spec *object, const char *key) {
    struct graft_spec child = {graft_json_get(object->value, key), object->file, object, key, 0};
    return child;
}

struct graft_spec graft_spec_at(const struct graft_spec *array, size_t index) {
    struct graft_spec child = {graft_json_at(array->value, index), array->file, array, NULL, index};
    return child;
}

int graft_spec_is_none(const struct graft_spec *spec) {
    enum graft_json_type type = graft_json_type(spec->value);
    return type == GRAFT_JSON_ABSENT || type == GRAFT_JSON_NULL;
}

void graft_spec_path(const struct graft_spec *spec, char *path, size_t size) {
    size_t used;
    path[0] = '\0';
    if (spec->parent == NULL) {
        return;
    }
    graft_spec_path(spec->parent, path, size);
    used = strlen(path);
    if (spec->key != NULL) {
        (void)snprintf(path + used, size - used, "%s%s", used > 0 ? "." : "", spec->key);
    } else {
        (void)snprintf(path + used, size - used, "[%zu]", spec->index);
    }
}

int graft_spec_error(const struct graft_spec *spec, struct graft_error *error, const char *format, ...) {
    char path[256];
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    graft_spec_path(spec, path, sizeof path);
    return graft_error_set(error, GRAFT_ERROR_MODEL, spec->file, "%s%s%s", path, path[0] != '\0' ? ": " : "", text);
}

static int type_error(const struct graft_spec *spec, const char *expected, struct graft_error *error) {
    if (spec->value == NULL) {
        return graft_spec_error(spec, error, "missing, expected %s", expected);
    }
    return graft_spec_error(spec, error, "expected %s, got %s", expected, graft_json_type_name(spec->value));
}

int graft_spec_expect_object(const struct graft_spec *spec, const char *const *keys, struct graft_error *error) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    if (graft_json_type(spec->value) != GRAFT_JSON_OBJECT) {
        return type_error(spec, "an object", error);
    }
    while (graft_json_next(spec->value, &iterator, &key, &value)) {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0) {
            i++;
        }
        if (keys[i] == NULL) {
            return graft_spec_error(spec, error, "the field \"%s\" is not known", key);
        }
    }
    return GRAFT_OK;
}

int graft_spec_expect_array(const struct graft_spec *spec, struct graft_error *error) {
    return graft_json_type(spec->value) == GRAFT_JSON_ARRAY ? GRAFT_OK : type_error(spec, "an array", error);
}

int graft_spec_string(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                      struct graft_error *error) {
    struct graft_spec spec = graft_spec_get(object, key);
    size_t bytes = 0;
    *text = graft_json_string(spec.value, &bytes);
    if (*text == NULL) {
        return type_error(&spec, "a string", error);
    }
    if (length != NULL) {
        *length = bytes;
    } else if (strlen(*text) != bytes) {
        return graft_spec_error(&spec, error, "the string contains a NUL byte");
    }
    return GRAFT_OK;
}

int graft_spec_optional_string(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                               struct graft_error *error) {
    struct graft_spec spec = graft_spec_get(object, key);
    *text = NULL;
    return graft_spec_is_none(&spec) ? GRAFT_OK : graft_spec_string(object, key, text, length, error);
}

int graft_spec_character(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                         struct graft_error *error) {
    struct graft_spec spec = graft_spec_get(object, key);
    int status = graft_spec_string(object, key, text, length, error);
    return status == GRAFT_OK && graft_utf8_count(*text, *length) != 1
               ? graft_spec_error(&spec, error, "expected one character")
               : status;
}

int graft_spec_bool(const struct graft_spec *object, const char *key, int fallback, int *truth,
                    struct graft_error *error) {
    struct graft_spec spec = graft_spec_get(object, key);
    *truth = fallback;
    if (graft_spec_is_none(&spec)) {
        return GRAFT_OK;
    }
    if (graft_json_type(spec.value) != GRAFT_JSON_BOOL) {
        return type_error(&spec, "true or false", error);
    }
    *truth = graft_json_bool(spec.value);
    return GRAFT_OK;
}

static int read_count(const struct graft_spec *spec, int64_t max, int64_t *number, struct graft_error *error) {
    if (graft_json_type(spec->value) != GRAFT_JSON_INT) {
        return type_error(spec, "an integer", error);
    }
    *number = graft_json_int(spec->value);
    if (*number < 0 || *number > max) {
        return graft_spec_error(spec, error, "%lld is not between 0 and %lld", (long long)*number, (long long)max);
    }
    return GRAFT_OK;
}

int graft_spec_count(const struct graft_spec *object, const char *key, int64_t max, int64_t *number,
                     struct graft_error *error) {
    struct graft_spec spec = graft_spec_get(object, key);
    return read_count(&spec, max, number, error);
}

int graft_spec_id(const struct graft_spec *spec, int32_t *id, struct graft_error *error) {
    int64_t number = 0;
    int status = read_count(spec, INT32_MAX, &number, error);
    *id = (int32_t)number;
    return status;
}
