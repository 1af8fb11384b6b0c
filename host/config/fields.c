/* SPDX-License-Identifier: Apache-2.0 */
/* config.json as the classes of a family read it: with the family's aliases and defaults. */
#include <stdio.h>
#include <string.h>

#include "config/config.h"

enum { MAX_NAME = 256 }; /* bytes of the name of a family's field */

/* The target of a path: a path in the file, or a default. */
struct place {
    const char *path;
    const struct graft_config_field *fallback; /* the default; NULL: none */
};

/* The file's name for a field, which may use the classes' name for something else. */
static const char *own_name(const struct graft_family *family, const char *path) {
    for (int32_t i = 0; i < family->n_fields; i++) {
        const struct graft_config_field *field = graft_family_field(family, i);
        if ((field->flags & GRAFT_FIELD_RENAMED) != 0 && strcmp(field->name, path) == 0) {
            return field->alias;
        }
    }
    return path;
}

/* Whether a default is below an object ("rope_parameters.factor") that the file has; such a default is only for files
 * without the object. */
static int32_t is_of_object_in_file(const struct graft_config *whole, const char *name) {
    char object[MAX_NAME];
    const char *dot = strrchr(name, '.');
    (void)snprintf(object, sizeof object, "%.*s", dot != NULL ? (int)(dot - name) : 0, name);
    return dot != NULL && graft_config_has(whole, object);
}

static struct place find(const struct graft_model_config *config, const char *path) {
    const struct graft_config *whole = &config->whole;
    struct place place = {own_name(config->family, path), NULL};
    int32_t kind = whole->kind(whole->data, place.path);
    if (kind != GRAFT_FIELD_ABSENT && kind != GRAFT_FIELD_NULL) {
        return place;
    }
    for (int32_t i = 0; i < config->family->n_fields; i++) {
        const struct graft_config_field *field = graft_family_field(config->family, i);
        if (strcmp(field->name, path) != 0 || (kind == GRAFT_FIELD_NULL && field->kind != GRAFT_FIELD_OBJECT)) {
            continue;
        }
        if (field->alias != NULL && whole->kind(whole->data, field->alias) != GRAFT_FIELD_ABSENT) {
            return (struct place){field->alias, NULL};
        }
        if (field->kind != GRAFT_FIELD_ABSENT && place.fallback == NULL && !is_of_object_in_file(whole, path)) {
            place.fallback = field;
        }
    }
    return place;
}

static int32_t kind(const void *data, const char *path) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    return place.fallback != NULL ? place.fallback->kind : config->whole.kind(config->whole.data, place.path);
}

static int64_t integer(const void *data, const char *path) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    if (place.fallback != NULL) {
        int32_t own = place.fallback->kind;
        return own == GRAFT_FIELD_INT || own == GRAFT_FIELD_BOOL ? place.fallback->integer : 0;
    }
    return config->whole.integer(config->whole.data, place.path);
}

static double real(const void *data, const char *path) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    if (place.fallback != NULL) {
        return place.fallback->kind == GRAFT_FIELD_INT ? (double)place.fallback->integer : place.fallback->real;
    }
    return config->whole.real(config->whole.data, place.path);
}

static const char *string(const void *data, const char *path) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    if (place.fallback != NULL) {
        return place.fallback->kind == GRAFT_FIELD_STRING ? place.fallback->string : NULL;
    }
    return config->whole.string(config->whole.data, place.path);
}

/* How many fields below this one have defaults. */
static int64_t members(const struct graft_family *family, const struct graft_config_field *object) {
    size_t length = strlen(object->name);
    int64_t n = 0;
    for (int32_t i = 0; i < family->n_fields; i++) {
        const char *name = graft_family_field(family, i)->name;
        n += strncmp(name, object->name, length) == 0 && name[length] == '.';
    }
    return n;
}

static int64_t size(const void *data, const char *path) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    return place.fallback != NULL ? members(config->family, place.fallback)
                                  : config->whole.size(config->whole.data, place.path);
}

static const char *spelling(const void *data, const char *path) {
    const struct place place = find(data, path);
    return place.path;
}

static const char *key(const void *data, const char *path, int64_t i) {
    const struct graft_model_config *config = data;
    const struct place place = find(config, path);
    return place.fallback != NULL ? NULL : config->whole.key(config->whole.data, place.path, i);
}

const char *graft_model_config_name(const struct graft_model_config *config, const char *spelling) {
    for (int32_t i = 0; config->family != NULL && i < config->family->n_fields; i++) {
        const struct graft_config_field *field = graft_family_field(config->family, i);
        if (field->alias != NULL && strcmp(field->alias, spelling) == 0) {
            return field->name;
        }
    }
    return NULL;
}

void graft_model_config_read_as(struct graft_model_config *config, const struct graft_family *family) {
    config->family = family;
    config->view = (struct graft_config){
        .struct_size = sizeof config->view,
        .file = config->file,
        .data = config,
        .kind = kind,
        .integer = integer,
        .real = real,
        .string = string,
        .size = size,
        .spelling = spelling,
        .key = key,
    };
}
