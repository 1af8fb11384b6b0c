/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/check.h"

#include <stdarg.h>
#include <string.h>

#include "base/fail.h"
#include "base/regex.h"
#include "base/text.h"

enum { MAX_PATH_TEXT = 256, MAX_STRIDE = 65536, MAX_NAMES = 256 };

/* Appends to a path, which is truncated if it does not fit. */
static size_t append(char *path, size_t length, const char *text) {
    int written = snprintf(path + length, MAX_PATH_TEXT - length, "%s", text);
    size_t room = MAX_PATH_TEXT - 1 - length;
    return length + (written < 0 ? 0 : (size_t)written < room ? (size_t)written : room);
}

static size_t write_place(char *path, const struct graft_place *place) {
    size_t length = 0;
    if (place->parent != NULL) {
        char index[24] = "";
        length = write_place(path, place->parent);
        length = append(path, length, length > 0 ? "." : "");
        length = append(path, length, place->field);
        if (place->index >= 0) {
            (void)snprintf(index, sizeof index, "[%d]", (int)place->index);
        }
        length = append(path, length, index);
    }
    return length;
}

static const char *file_of(const struct graft_place *place) {
    while (place->parent != NULL) {
        place = place->parent;
    }
    return place->file;
}

int graft_check_failed(const struct graft_place *place, const char *field, struct graft_error *error,
                       const char *format, ...) {
    char path[MAX_PATH_TEXT] = "";
    char text[sizeof error->message];
    size_t length = write_place(path, place);
    if (field != NULL) {
        length = append(path, length, length > 0 ? "." : "");
        (void)append(path, length, field);
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, file_of(place), "%s%s%s", path, path[0] != '\0' ? ": " : "",
                           text);
}

static int has_control(const char *text) {
    for (; *text != '\0'; text++) {
        if (graft_error_is_control(text)) {
            return 1;
        }
    }
    return 0;
}

int graft_check_text(const struct graft_place *place, const char *field, const char *text, size_t max,
                     struct graft_error *error) {
    if (text == NULL) {
        return graft_check_failed(place, field, error, "expected a string, got NULL");
    }
    if (text[0] == '\0') {
        return graft_check_failed(place, field, error, "expected a non-empty string");
    }
    size_t length = strnlen(text, max + 1);
    if (length > max) {
        return graft_check_failed(place, field, error, "expected at most %zu bytes, got more: \"%.40s...\"", max, text);
    }
    if (graft_utf8_valid_prefix(text, length) < length || has_control(text)) {
        return graft_check_failed(place, field, error, "expected one line of UTF-8, got \"%.200s\"", text);
    }
    return GRAFT_OK;
}

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int graft_check_names(const struct graft_place *place, const char *field, const char *const *names,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; names != NULL && names[i] != NULL && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = field, .index = i};
        status = i < MAX_NAMES
                     ? graft_check_text(&element, NULL, names[i], GRAFT_MAX_NAME, error)
                     : graft_check_failed(place, field, error, "expected NULL after at most %d names", (int)MAX_NAMES);
    }
    return status;
}

int graft_check_class_name(const struct graft_place *place, const char *field, const char *name,
                           struct graft_error *error) {
    int status = graft_check_text(place, field, name, GRAFT_MAX_NAME, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t length = 0;
    while (is_letter(name[length]) || (length > 0 && name[length] >= '0' && name[length] <= '9')) {
        length++;
    }
    return name[length] == '\0'
               ? GRAFT_OK
               : graft_check_failed(place, field, error,
                                    "expected the name of a class (letters, digits, _), got \"%s\"", name);
}

int graft_check_path(const struct graft_place *place, const char *field, const char *path, struct graft_error *error) {
    int status = graft_check_text(place, field, path, GRAFT_MAX_NAME, error);
    if (status == GRAFT_OK && (path[0] == '.' || path[strlen(path) - 1] == '.' || strstr(path, "..") != NULL)) {
        status = graft_check_failed(place, field, error, "expected a field or a dotted path, got \"%s\"", path);
    }
    return status;
}

int graft_check_id(const struct graft_place *place, const char *field, const char *id, struct graft_error *error) {
    int status = graft_check_text(place, field, id, GRAFT_MAX_NAME, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t name = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_.-");
    size_t number = id[name] == '/' ? strspn(id + name + 1, "0123456789") : 0;
    return name > 0 && number > 0 && id[name + 1 + number] == '\0'
               ? GRAFT_OK
               : graft_check_failed(place, field, error, "expected an id such as \"acme.gate/1\", got \"%s\"", id);
}

int graft_is_host_id(const char *id) {
    return strncmp(id, "graft.", strlen("graft.")) == 0;
}

int graft_check_pattern(const struct graft_place *place, const char *field, const char *pattern,
                        struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    struct graft_regex *regex = NULL;
    int status = graft_check_text(place, field, pattern, GRAFT_MAX_LINE, error);
    if (status == GRAFT_OK) {
        status = graft_regex_compile(pattern, strlen(pattern), file_of(place), GRAFT_ERROR_PLUGIN, &regex, &cause);
        graft_regex_free(regex);
        if (status == GRAFT_ERROR_PLUGIN) {
            return graft_check_failed(place, field, error, "%s", cause.message);
        }
        if (status != GRAFT_OK) {
            return graft_error_set(error, status, file_of(place), "%s", cause.message);
        }
    }
    return status;
}

int graft_check_zero(const struct graft_place *place, const char *field, uint32_t value, struct graft_error *error) {
    return value == 0 ? GRAFT_OK
                      : graft_check_failed(place, field, error, "expected 0 (reserved), got 0x%x", (unsigned)value);
}

int graft_check_flags(const struct graft_place *place, uint32_t flags, uint32_t known, struct graft_error *error) {
    uint32_t unknown = graft_flags_unknown(flags, known);
    return unknown == 0
               ? GRAFT_OK
               : graft_check_failed(place, "flags", error, "requirement 0x%x is unknown to this host (it knows 0x%x)",
                                    (unsigned)unknown, (unsigned)(known & GRAFT_REQUIREMENTS));
}

int graft_check_size(const struct graft_place *place, uint32_t size, size_t needed, struct graft_error *error) {
    return size >= needed ? GRAFT_OK
                          : graft_check_failed(place, "struct_size", error, "expected at least %zu, got %u", needed,
                                               (unsigned)size);
}

int graft_check_list(const struct graft_place *place, const struct graft_array *array, struct graft_error *error) {
    int n = (int)array->count;
    if (n < array->min_count || n > array->max_count) {
        return graft_check_failed(place, array->count_field, error, "expected %d to %d, got %d", (int)array->min_count,
                                  (int)array->max_count, n);
    }
    if (n > 0 && array->items == NULL) {
        return graft_check_failed(place, array->field, error, "expected %d element%s, got NULL", n, n > 1 ? "s" : "");
    }
    if (n == 0 || array->stride_field == NULL) {
        return GRAFT_OK;
    }
    if (array->stride < array->element_size || array->stride > MAX_STRIDE || array->stride % sizeof(void *) != 0) {
        return graft_check_failed(place, array->stride_field, error,
                                  "expected a multiple of %zu from %zu to %d, got %u", sizeof(void *),
                                  array->element_size, MAX_STRIDE, (unsigned)array->stride);
    }
    return GRAFT_OK;
}

int graft_check_array(const struct graft_place *place, const struct graft_array *array, struct graft_error *error) {
    int status = graft_check_list(place, array, error);
    if (status != GRAFT_OK || array->stride_field == NULL) {
        return status;
    }
    for (int32_t i = 0; i < array->count; i++) {
        const struct graft_place element = {.parent = place, .field = array->field, .index = i};
        uint32_t size;
        memcpy(&size, graft_array_at(array->items, array->stride, i), sizeof size);
        status = graft_check_size(&element, size, array->element_size, error);
        if (status == GRAFT_OK && size > array->stride) {
            status = graft_check_failed(&element, "struct_size", error, "expected at most the stride, %u, got %u",
                                        (unsigned)array->stride, (unsigned)size);
        }
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

const void *graft_array_at(const void *items, uint32_t stride, int32_t index) {
    return (const char *)items + (size_t)stride * (size_t)index;
}
