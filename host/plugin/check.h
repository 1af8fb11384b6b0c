/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the validation of a plugin's structs is made of: a place among them, told as a field path
 * ("replacements[0].replacement.conversions[1].sources[0]"), and checks that record what was expected there and found.
 *
 * All functions are [any] and return GRAFT_OK or the status of the error recorded.
 */
#ifndef GRAFT_PLUGIN_CHECK_H
#define GRAFT_PLUGIN_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

/* A link of the path. Links live on the stack, a function's own at the end of its caller's. */
struct graft_place {
    const struct graft_place *parent; /* NULL at the descriptor itself */
    const char *field;
    int32_t index;    /* of an element; -1: the field itself */
    const char *file; /* the plugin's; in the outermost link only */
};

/* Longest texts: what fits in a line, and more than anyone needs. */
enum { GRAFT_MAX_NAME = 255, GRAFT_MAX_LINE = 1023 };

/* Records "PATH.FIELD: ...". `field` may be NULL: the place itself. */
int graft_check_failed(const struct graft_place *place, const char *field, struct graft_error *error,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A string that is there, not empty, of at most `max` bytes, UTF-8, one line. */
int graft_check_text(const struct graft_place *place, const char *field, const char *text, size_t max,
                     struct graft_error *error);

/* A NULL-terminated list of texts, or NULL. */
int graft_check_names(const struct graft_place *place, const char *field, const char *const *names,
                      struct graft_error *error);

/* As text, and a name in Python: the name of a class. */
int graft_check_class_name(const struct graft_place *place, const char *field, const char *name,
                           struct graft_error *error);

/* As text, and a path as graft_config reads it: "rope_parameters.rope_theta". */
int graft_check_path(const struct graft_place *place, const char *field, const char *path, struct graft_error *error);

/* As text, and the id of an extension or an interface: "acme.gate/1". */
int graft_check_id(const struct graft_place *place, const char *field, const char *id, struct graft_error *error);

/* Whether an id is the host's to give. */
int graft_is_host_id(const char *id);

/* As text, and a regular expression that compiles. */
int graft_check_pattern(const struct graft_place *place, const char *field, const char *pattern,
                        struct graft_error *error);

/* A member that is reserved: 0. */
int graft_check_zero(const struct graft_place *place, const char *field, uint32_t value, struct graft_error *error);

/* `flags` without requirements (graft/abi.h) beside those `known`. */
int graft_check_flags(const struct graft_place *place, uint32_t flags, uint32_t known, struct graft_error *error);

/* A struct_size. */
int graft_check_size(const struct graft_place *place, uint32_t size, size_t needed, struct graft_error *error);

/* An array of pointers (`stride_field` is NULL) or of structs that start with their size. */
struct graft_array {
    const char *field;
    const char *count_field;
    const char *stride_field;
    const void *items;
    int32_t count;
    int32_t min_count;
    int32_t max_count;
    uint32_t stride;
    size_t element_size; /* the smallest that the host can read */
};

/* Count, stride and address; structs that do not start with their size need no more. */
int graft_check_list(const struct graft_place *place, const struct graft_array *array, struct graft_error *error);

/* The same, and each struct's size. */
int graft_check_array(const struct graft_place *place, const struct graft_array *array, struct graft_error *error);

/* Element `index` of an array that was checked. */
const void *graft_array_at(const void *items, uint32_t stride, int32_t index);

#endif
