/* SPDX-License-Identifier: Apache-2.0 */
/* A view of config.json in which the description's defaults replace fields that the file lacks. */
#include <stdlib.h>
#include <string.h>

#include "arch/data/choice.h"

static struct graft_default *find(const struct graft_description *description, const char *path) {
    for (size_t i = 0; i < description->n_defaults; i++) {
        if (strcmp(description->defaults[i].path, path) == 0) {
            return &description->defaults[i];
        }
    }
    return NULL;
}

static struct graft_default *add(struct graft_description *description, const char *path, struct graft_error *error) {
    const size_t size = strlen(path) + 1;
    struct graft_default *more =
        realloc(description->defaults, (description->n_defaults + 1) * sizeof *description->defaults);
    char *copy = malloc(size);
    if (more != NULL) {
        description->defaults = more;
    }
    if (more == NULL || copy == NULL) {
        free(copy);
        (void)graft_fail_memory(error, NULL);
        return NULL;
    }
    more[description->n_defaults] = (struct graft_default){memcpy(copy, path, size), NULL};
    return &more[description->n_defaults++];
}

int graft_description_set_default(struct graft_description *description, const char *path,
                                  const struct graft_value *value, struct graft_error *error) {
    struct graft_default *place = find(description, path);
    struct graft_expression *constant = graft_expression_constant(value, error);
    if (constant != NULL && place == NULL) {
        place = add(description, path, error);
    }
    if (constant == NULL || place == NULL) {
        graft_expression_destroy(constant);
        return GRAFT_ERROR_INTERNAL;
    }
    graft_expression_destroy(place->value);
    place->value = constant;
    return GRAFT_OK;
}

int graft_defaults_copy(const struct graft_description *from, struct graft_description *to, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < from->n_defaults && status == GRAFT_OK; i++) {
        struct graft_value value;
        status = graft_expression_fixed(from->defaults[i].value, &value)
                     ? graft_description_set_default(to, from->defaults[i].path, &value, error)
                     : GRAFT_OK;
    }
    return status;
}

void graft_defaults_free(struct graft_description *description) {
    for (size_t i = 0; i < description->n_defaults; i++) {
        free(description->defaults[i].path);
        graft_expression_destroy(description->defaults[i].value);
    }
    free(description->defaults);
}

/* --- A config with defaults --- */

/* Gets the default of a field that the file lacks; 0 if the file has the field or there is no default. */
static int replaces(const struct graft_reader *reader, const char *path, struct graft_value *value) {
    const struct graft_config *file = reader->file;
    const struct graft_default *found =
        file->kind(file->data, path) == GRAFT_FIELD_ABSENT ? find(reader->description, path) : NULL;
    return found != NULL && graft_expression_fixed(found->value, value);
}

static int32_t kind(const void *data, const char *path) {
    static const int32_t kinds[] = {[GRAFT_VALUE_NULL] = GRAFT_FIELD_NULL,
                                    [GRAFT_VALUE_BOOL] = GRAFT_FIELD_BOOL,
                                    [GRAFT_VALUE_INT] = GRAFT_FIELD_INT,
                                    [GRAFT_VALUE_REAL] = GRAFT_FIELD_REAL,
                                    [GRAFT_VALUE_TEXT] = GRAFT_FIELD_STRING};
    const struct graft_reader *reader = data;
    struct graft_value value;
    return replaces(reader, path, &value) ? kinds[value.kind] : reader->file->kind(reader->file->data, path);
}

static int64_t integer(const void *data, const char *path) {
    const struct graft_reader *reader = data;
    struct graft_value value;
    return replaces(reader, path, &value) ? value.integer : reader->file->integer(reader->file->data, path);
}

static double real(const void *data, const char *path) {
    const struct graft_reader *reader = data;
    struct graft_value value;
    return replaces(reader, path, &value) ? value.real : reader->file->real(reader->file->data, path);
}

static const char *string(const void *data, const char *path) {
    const struct graft_reader *reader = data;
    struct graft_value value;
    return replaces(reader, path, &value) ? value.kind == GRAFT_VALUE_TEXT ? value.text : NULL
                                          : reader->file->string(reader->file->data, path);
}

static int64_t size(const void *data, const char *path) {
    const struct graft_reader *reader = data;
    return reader->file->size(reader->file->data, path);
}

static const char *spelling(const void *data, const char *path) {
    const struct graft_reader *reader = data;
    return reader->file->spelling(reader->file->data, path);
}

static const char *key(const void *data, const char *path, int64_t i) {
    const struct graft_reader *reader = data;
    return reader->file->key(reader->file->data, path, i);
}

void graft_defaults_show(struct graft_reader *reader) {
    if (reader->description->n_defaults == 0) {
        return;
    }
    reader->defaulted = (struct graft_config){
        .struct_size = sizeof reader->defaulted,
        .file = reader->file->file,
        .data = reader,
        .kind = kind,
        .integer = integer,
        .real = real,
        .string = string,
        .size = size,
        .spelling = spelling,
        .key = key,
    };
    reader->config = &reader->defaulted;
}
