/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/section.h"

#include <string.h>

#include "arch/data/expression.h"

enum { MAX_PATH = 192 };

/* The path of a field in the whole config, in `space` if it has to be made. */
static const char *path_of(const struct graft_config_section *section, const char *path, char space[MAX_PATH]) {
    const size_t outer = section->outer != NULL ? strlen(section->outer) : 0;
    if (outer > 0 && strncmp(path, section->outer, outer) == 0) {
        return path + outer;
    }
    if (section->name == NULL) {
        return path;
    }
    (void)snprintf(space, MAX_PATH, "%s.%s", section->name, path);
    return space;
}

/* The value of a field whose kind in the file is `own`; NULL: the file has it, or there is none. */
static const struct graft_value *fallback_for(const struct graft_config_section *section, const char *path,
                                              int32_t own) {
    return own == GRAFT_FIELD_ABSENT && section->fallback != NULL ? section->fallback(section->fallback_data, path)
                                                                  : NULL;
}

/* The same, for a field that the file has at `whole_path`, if it has it. */
static const struct graft_value *fallback_of(const struct graft_config_section *section, const char *path,
                                             const char *whole_path) {
    return section->fallback != NULL
               ? fallback_for(section, path, section->whole->kind(section->whole->data, whole_path))
               : NULL;
}

static int32_t kind(const void *data, const char *path) {
    static const int32_t kinds[] = {[GRAFT_VALUE_NULL] = GRAFT_FIELD_NULL,
                                    [GRAFT_VALUE_BOOL] = GRAFT_FIELD_BOOL,
                                    [GRAFT_VALUE_INT] = GRAFT_FIELD_INT,
                                    [GRAFT_VALUE_REAL] = GRAFT_FIELD_REAL,
                                    [GRAFT_VALUE_TEXT] = GRAFT_FIELD_STRING};
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    const char *whole_path = path_of(section, path, space);
    const int32_t own = section->whole->kind(section->whole->data, whole_path);
    const struct graft_value *value = fallback_for(section, path, own);
    return value != NULL ? kinds[value->kind] : own;
}

static int64_t integer(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    const char *whole_path = path_of(section, path, space);
    const struct graft_value *value = fallback_of(section, path, whole_path);
    return value != NULL ? value->integer : section->whole->integer(section->whole->data, whole_path);
}

static double real(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    const char *whole_path = path_of(section, path, space);
    const struct graft_value *value = fallback_of(section, path, whole_path);
    return value != NULL ? value->real : section->whole->real(section->whole->data, whole_path);
}

static const char *string(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    const char *whole_path = path_of(section, path, space);
    const struct graft_value *value = fallback_of(section, path, whole_path);
    return value != NULL ? value->text : section->whole->string(section->whole->data, whole_path);
}

static int64_t size(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    return section->whole->size(section->whole->data, path_of(section, path, space));
}

/* Paths need no section in messages: the config's `file` names it. */
static const char *spelling(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->name != NULL ? path : section->whole->spelling(section->whole->data, path);
}

static const char *key(const void *data, const char *path, int64_t i) {
    const struct graft_config_section *section = data;
    char space[MAX_PATH];
    return section->whole->key(section->whole->data, path_of(section, path, space), i);
}

int graft_config_section(const struct graft_config *whole, const char *name, struct graft_config_section *section,
                         struct graft_error *error) {
    if (name != NULL && graft_config_has(whole, name) && whole->kind(whole->data, name) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(whole, name, "an object", error);
    }
    section->whole = whole;
    section->name = name;
    section->outer = NULL;
    section->fallback = NULL;
    (void)snprintf(section->file, sizeof section->file, "%s%s%s", whole->file, name != NULL ? ": " : "",
                   name != NULL ? name : "");
    section->view = (struct graft_config){
        .struct_size = sizeof section->view,
        .file = section->file,
        .data = section,
        .kind = kind,
        .integer = integer,
        .real = real,
        .string = string,
        .size = size,
        .spelling = spelling,
        .key = key,
    };
    return GRAFT_OK;
}
