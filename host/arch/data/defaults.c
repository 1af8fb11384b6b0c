/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a description has for fields which the file lacks. */
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

/* Appends a place without a path; NULL if memory ran out. */
static struct graft_default *add(struct graft_description *description) {
    struct graft_default *more =
        realloc(description->defaults, (description->n_defaults + 1) * sizeof *description->defaults);
    if (more == NULL) {
        return NULL;
    }
    description->defaults = more;
    more[description->n_defaults].path = NULL;
    return &more[description->n_defaults++];
}

int graft_description_set_default(struct graft_description *description, const char *path,
                                  const struct graft_value *value, struct graft_error *error) {
    const int is_text = value->kind == GRAFT_VALUE_TEXT;
    const size_t size = strlen(path) + 1, text_size = is_text ? strlen(value->text) + 1 : 0;
    char *block = malloc(size + text_size); /* the path, and after it the value's text */
    struct graft_default *place = find(description, path);
    if (block != NULL && place == NULL) {
        place = add(description);
    }
    if (block == NULL || place == NULL) {
        free(block);
        return graft_fail_memory(error, NULL);
    }
    memcpy(block, path, size);
    free(place->path);
    *place = (struct graft_default){block, *value};
    place->value.real = value->kind == GRAFT_VALUE_INT ? (double)value->integer : value->real;
    place->value.text = is_text ? memcpy(block + size, value->text, text_size) : NULL;
    return GRAFT_OK;
}

int graft_defaults_copy(const struct graft_description *from, struct graft_description *to, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < from->n_defaults && status == GRAFT_OK; i++) {
        status = graft_description_set_default(to, from->defaults[i].path, &from->defaults[i].value, error);
    }
    return status;
}

void graft_defaults_free(struct graft_description *description) {
    for (size_t i = 0; i < description->n_defaults; i++) {
        free(description->defaults[i].path);
    }
    free(description->defaults);
}

const struct graft_value *graft_defaults_find(const void *description, const char *path) {
    const struct graft_default *found = find(description, path);
    return found != NULL ? &found->value : NULL;
}
