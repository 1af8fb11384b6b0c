/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_field.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

struct graft_field graft_field_root(const graft_json *document, const char *file) {
    return (struct graft_field){.value = document, .file = file};
}

struct graft_field graft_field_get(const struct graft_field *object, const char *key) {
    return (struct graft_field){graft_json_get(object->value, key), object->file, object, key, 0};
}

struct graft_field graft_field_at(const struct graft_field *array, size_t index) {
    return (struct graft_field){graft_json_at(array->value, index), array->file, array, NULL, index};
}

int graft_field_next(const struct graft_field *object, void **iterator, struct graft_field *member) {
    *member = (struct graft_field){.file = object->file, .parent = object};
    return graft_json_next(object->value, iterator, &member->key, &member->value);
}

int graft_field_is_none(const struct graft_field *field) {
    return graft_json_type(field->value) <= GRAFT_JSON_NULL;
}

void graft_field_path(const struct graft_field *field, char *path, size_t size) {
    size_t used;
    path[0] = '\0';
    if (field->parent == NULL) {
        return;
    }
    graft_field_path(field->parent, path, size);
    used = strlen(path);
    if (field->key != NULL) {
        (void)snprintf(path + used, size - used, "%s%.100s", used > 0 ? "." : "", field->key);
    } else {
        (void)snprintf(path + used, size - used, "[%zu]", field->index);
    }
}

int graft_field_error(const struct graft_field *field, struct graft_error *error, const char *format, ...) {
    char path[256];
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    graft_field_path(field, path, sizeof path);
    return graft_error_set(error, GRAFT_ERROR_MODEL, field->file, "%s%s%s", path, path[0] != '\0' ? ": " : "", text);
}

static enum graft_member_result fail_type(const char *what, const graft_json *value, char *message) {
    (void)snprintf(message, GRAFT_MEMBER_MESSAGE, value == NULL ? "missing, expected %s" : "expected %s, got %s", what,
                   graft_json_type_name(value));
    return GRAFT_MEMBER_WRONG_TYPE;
}

int graft_field_wrong(const struct graft_field *field, const char *what, struct graft_error *error) {
    char message[GRAFT_MEMBER_MESSAGE];
    (void)fail_type(what, field->value, message);
    return graft_field_error(field, error, "%s", message);
}

static int fail_unknown(const struct graft_field *object, const char *key, struct graft_error *error) {
    struct graft_field other = graft_field_get(object, key);
    return graft_field_error(&other, error, "unknown field");
}

int graft_field_object(const struct graft_field *field, const char *const *keys, struct graft_error *error) {
    const char *other = keys != NULL ? graft_json_other_key(field->value, keys) : NULL;
    return graft_json_type(field->value) != GRAFT_JSON_OBJECT ? graft_field_wrong(field, "an object", error)
           : other != NULL                                    ? fail_unknown(field, other, error)
                                                              : GRAFT_OK;
}

int graft_field_array(const struct graft_field *field, struct graft_error *error) {
    return graft_json_type(field->value) == GRAFT_JSON_ARRAY ? GRAFT_OK : graft_field_wrong(field, "an array", error);
}

/* Reads the value of a field, as the row of a table says. */
static int read_field(const struct graft_field *field, const struct graft_member *member, void *into,
                      struct graft_error *error) {
    char message[GRAFT_MEMBER_MESSAGE];
    switch (graft_member_read(member, field->value, into, message)) {
    case GRAFT_MEMBER_READ:
        return GRAFT_OK;
    case GRAFT_MEMBER_NO_MEMORY:
        return graft_fail_memory(error, field->file);
    case GRAFT_MEMBER_WRONG_TYPE:
    case GRAFT_MEMBER_OUT_OF_BOUNDS:
    default:
        return graft_field_error(field, error, "%s", message);
    }
}

int graft_field_string(const struct graft_field *object, const char *key, const char **text, size_t *length,
                       struct graft_error *error) {
    const struct graft_member member = {.kind = length != NULL ? GRAFT_MEMBER_VIEW : GRAFT_MEMBER_TEXT};
    const struct graft_field field = graft_field_get(object, key);
    struct graft_text_view view = {0};
    *text = NULL;
    int status = read_field(&field, &member, length != NULL ? (void *)&view : (void *)text, error);
    if (length != NULL) {
        *text = view.text;
        *length = view.length;
    }
    return status;
}

int graft_field_optional_string(const struct graft_field *object, const char *key, const char **text, size_t *length,
                                struct graft_error *error) {
    struct graft_field field = graft_field_get(object, key);
    *text = NULL;
    return graft_field_is_none(&field) ? GRAFT_OK : graft_field_string(object, key, text, length, error);
}

int graft_field_strings(const struct graft_field *object, const char *key, const char ***strings, size_t *n,
                        struct graft_error *error) {
    static const char expected[] = "a string or an array of strings, at least one";
    const struct graft_field field = graft_field_get(object, key);
    int single = graft_json_type(field.value) == GRAFT_JSON_STRING;
    *n = single ? 1 : graft_json_type(field.value) == GRAFT_JSON_ARRAY ? graft_json_size(field.value) : 0;
    *strings = NULL;
    if (*n == 0) {
        return graft_field_wrong(&field, expected, error);
    }
    const char **list = graft_alloc(*n + 1, sizeof *list);
    if (list == NULL) {
        return graft_fail_memory(error, field.file);
    }
    for (size_t i = 0; i < *n; i++) {
        const struct graft_field item = single ? field : graft_field_at(&field, i);
        size_t length = 0;
        const char *text = graft_json_string(item.value, &length);
        if (text == NULL || strlen(text) != length) {
            graft_free(list);
            return text == NULL ? graft_field_wrong(&item, expected, error)
                                : graft_field_error(&item, error, "the string contains a NUL byte");
        }
        list[i] = text;
    }
    *strings = list;
    return GRAFT_OK;
}

int graft_field_id(const struct graft_field *field, int32_t *id, struct graft_error *error) {
    static const struct graft_member member = {.kind = GRAFT_MEMBER_INT, .most = INT32_MAX};
    int64_t number = 0;
    int status = read_field(field, &member, &number, error);
    *id = (int32_t)number;
    return status;
}

int graft_json_file_open(struct graft_json_file *file, const char *directory, const char *name, size_t max_bytes,
                         int is_optional, struct graft_error *error) {
    *file = (struct graft_json_file){.path = graft_path_join(directory, name)};
    int status = file->path == NULL ? graft_fail_memory(error, directory)
                 : !is_optional || graft_file_exists(file->path) != 0
                     ? graft_json_read(file->path, max_bytes, &file->document, error)
                     : GRAFT_OK;
    file->root = graft_field_root(file->document, file->path);
    return status;
}

void graft_json_file_close(struct graft_json_file *file) {
    graft_json_free(file->document);
    graft_free(file->path);
    *file = (struct graft_json_file){0};
}

/* --- Tables --- */

static enum graft_member_result read_number(const struct graft_member *member, const graft_json *value, void *into,
                                            char *message) {
    const int is_int = member->kind == GRAFT_MEMBER_INT;
    const double number = graft_json_real(value);
    const char *what = is_int ? "an integer" : "a number";
    if (graft_json_type(value) != GRAFT_JSON_INT && (is_int || graft_json_type(value) != GRAFT_JSON_REAL)) {
        return fail_type(what, value, message);
    }
    if (member->least < member->most && !(number >= member->least && number <= member->most)) {
        char upper[40] = "";
        if (!isinf(member->most)) {
            (void)snprintf(upper, sizeof upper, " to %.10g", member->most);
        }
        (void)snprintf(message, GRAFT_MEMBER_MESSAGE, "expected %s %s %.10g%s, got %.*g", what,
                       upper[0] != '\0' ? "from" : "of at least", member->least, upper, is_int ? 17 : 6, number);
        return GRAFT_MEMBER_OUT_OF_BOUNDS;
    }
    if (is_int) {
        *(int64_t *)into = graft_json_int(value);
    } else {
        *(double *)into = number;
    }
    return GRAFT_MEMBER_READ;
}

static enum graft_member_result read_text(const struct graft_member *member, const graft_json *value, void *into,
                                          char *message) {
    size_t length = 0;
    const char *text = graft_json_string(value, &length);
    const char *fault = NULL;
    if (text == NULL) {
        return fail_type("a string", value, message);
    }
    if (member->is_filled && length == 0) {
        fault = "expected a string that is not empty";
    } else if (member->kind == GRAFT_MEMBER_CHARACTER && graft_utf8_count(text, length) != 1) {
        fault = "expected one character";
    } else if (member->kind == GRAFT_MEMBER_TEXT && strlen(text) != length) {
        fault = "the string contains a NUL byte";
    }
    if (fault == NULL && member->fits != NULL && !member->fits(text)) {
        (void)snprintf(message, GRAFT_MEMBER_MESSAGE, "expected %s, got \"%.100s\"", member->what, text);
        return GRAFT_MEMBER_OUT_OF_BOUNDS;
    }
    if (fault != NULL) {
        (void)snprintf(message, GRAFT_MEMBER_MESSAGE, "%s", fault);
        return GRAFT_MEMBER_OUT_OF_BOUNDS;
    }
    if (member->kind == GRAFT_MEMBER_TEXT) {
        *(const char **)into = text;
        return GRAFT_MEMBER_READ;
    }
    if (member->kind == GRAFT_MEMBER_VIEW) {
        *(struct graft_text_view *)into = (struct graft_text_view){text, length};
        return GRAFT_MEMBER_READ;
    }
    graft_text_add(into, text, length);
    return ((struct graft_text *)into)->failed ? GRAFT_MEMBER_NO_MEMORY : GRAFT_MEMBER_READ;
}

static enum graft_member_result read_choice(const struct graft_member *member, const graft_json *value, void *into,
                                            char *message) {
    const char *name = graft_json_string(value, NULL);
    char expected[GRAFT_MEMBER_MESSAGE / 2] = "";
    for (int i = 0; member->names[i] != NULL; i++) {
        const size_t used = strlen(expected);
        const char *link = i == 0 ? "" : member->names[i + 1] != NULL ? ", " : " or ";
        (void)snprintf(expected + used, sizeof expected - used, "%s\"%s\"", link, member->names[i]);
        if (name != NULL && strcmp(member->names[i], name) == 0) {
            *(int *)into = i;
            return GRAFT_MEMBER_READ;
        }
    }
    if (name == NULL) {
        return fail_type(expected, value, message);
    }
    (void)snprintf(message, GRAFT_MEMBER_MESSAGE, "expected %s, got \"%.100s\"", expected, name);
    return GRAFT_MEMBER_OUT_OF_BOUNDS;
}

enum graft_member_result graft_member_read(const struct graft_member *member, const graft_json *value, void *into,
                                           char message[GRAFT_MEMBER_MESSAGE]) {
    const enum graft_json_type type = graft_json_type(value);
    switch (member->kind) {
    case GRAFT_MEMBER_TEXT:
    case GRAFT_MEMBER_VIEW:
    case GRAFT_MEMBER_COPY:
    case GRAFT_MEMBER_CHARACTER:
        return read_text(member, value, into, message);
    case GRAFT_MEMBER_INT:
    case GRAFT_MEMBER_REAL:
        return read_number(member, value, into, message);
    case GRAFT_MEMBER_CHOICE:
        return read_choice(member, value, into, message);
    case GRAFT_MEMBER_FLAG:
        if (type != GRAFT_JSON_BOOL) {
            return fail_type("true or false", value, message);
        }
        *(int *)into = graft_json_bool(value);
        return GRAFT_MEMBER_READ;
    case GRAFT_MEMBER_SKIPPED:
        return GRAFT_MEMBER_READ;
    case GRAFT_MEMBER_ARRAY:
    case GRAFT_MEMBER_OBJECT:
    case GRAFT_MEMBER_ANY:
    default:
        if (value == NULL || (member->kind == GRAFT_MEMBER_ARRAY && type != GRAFT_JSON_ARRAY) ||
            (member->kind == GRAFT_MEMBER_OBJECT && type != GRAFT_JSON_OBJECT)) {
            return fail_type(member->kind == GRAFT_MEMBER_ARRAY    ? "an array"
                             : member->kind == GRAFT_MEMBER_OBJECT ? "an object"
                                                                   : "a value",
                             value, message);
        }
        *(const graft_json **)into = value;
        return GRAFT_MEMBER_READ;
    }
}

int graft_field_read_some(const struct graft_field *object, const struct graft_member *members, void *into,
                          struct graft_error *error) {
    int status = graft_field_object(object, NULL, error);
    for (; members->key != NULL && status == GRAFT_OK; members++) {
        const struct graft_field field = graft_field_get(object, members->key);
        if (!members->is_optional || !graft_field_is_none(&field)) {
            status = read_field(&field, members, (char *)into + members->offset, error);
        }
    }
    return status;
}

int graft_field_read(const struct graft_field *object, const struct graft_member *members, void *into,
                     struct graft_error *error) {
    struct graft_field member;
    void *iterator = NULL;
    while (graft_field_next(object, &iterator, &member)) {
        const struct graft_member *row = members;
        while (row->key != NULL && strcmp(row->key, member.key) != 0) {
            row++;
        }
        if (row->key == NULL) {
            return graft_field_error(&member, error, "unknown field");
        }
    }
    return graft_field_read_some(object, members, into, error);
}
