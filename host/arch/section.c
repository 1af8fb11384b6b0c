/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/section.h"

#include <string.h>

enum { MAX_PATH = 192 };

struct path {
    char text[MAX_PATH];
};

static struct path path_of(const struct graft_config_section *section, const char *path) {
    struct path whole;
    const size_t outer = section->outer != NULL ? strlen(section->outer) : 0;
    if (outer > 0 && strncmp(path, section->outer, outer) == 0) {
        (void)snprintf(whole.text, sizeof whole.text, "%s", path + outer);
        return whole;
    }
    (void)snprintf(whole.text, sizeof whole.text, "%s.%s", section->name, path);
    return whole;
}

static int32_t kind(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->whole->kind(section->whole->data, path_of(section, path).text);
}

static int64_t integer(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->whole->integer(section->whole->data, path_of(section, path).text);
}

static double real(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->whole->real(section->whole->data, path_of(section, path).text);
}

static const char *string(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->whole->string(section->whole->data, path_of(section, path).text);
}

static int64_t size(const void *data, const char *path) {
    const struct graft_config_section *section = data;
    return section->whole->size(section->whole->data, path_of(section, path).text);
}

/* Paths need no section in messages: the config's `file` names it. */
static const char *spelling(const void *data, const char *path) {
    (void)data;
    return path;
}

static const char *key(const void *data, const char *path, int64_t i) {
    const struct graft_config_section *section = data;
    return section->whole->key(section->whole->data, path_of(section, path).text, i);
}

int graft_config_section(const struct graft_config *whole, const char *name, struct graft_config_section *section,
                         struct graft_error *error) {
    if (graft_config_has(whole, name) && whole->kind(whole->data, name) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(whole, name, "an object", error);
    }
    section->whole = whole;
    section->name = name;
    section->outer = NULL;
    (void)snprintf(section->file, sizeof section->file, "%s: %s", whole->file, name);
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
