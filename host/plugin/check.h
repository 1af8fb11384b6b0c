/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building blocks for validating a plugin's structs: a place among them, printed as a field path such as
 * "replacements[0].replacement.conversions[1].sources[0]", and checks that record what was expected there and what was
 * found.
 *
 * All functions are [any] and return GRAFT_OK or the status of the error that they set.
 */
#ifndef GRAFT_PLUGIN_CHECK_H
#define GRAFT_PLUGIN_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

/* A component of the path. Components live on the stack; each function links its own to its caller's. */
struct graft_place {
    const struct graft_place *parent; /* NULL for the descriptor itself */
    const char *field;
    int32_t index;    /* index of an element; -1: the field itself */
    const char *file; /* file of the plugin; in the outermost component only */
};

/* The longest texts that are accepted. */
enum { GRAFT_MAX_NAME = 255, GRAFT_MAX_LINE = 1023 };

/* Sets the error "PATH.FIELD: ...". `field` is NULL for the place itself. */
int graft_check_failed(const struct graft_place *place, const char *field, struct graft_error *error,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Checks a string: not NULL or empty, at most `max` bytes, UTF-8, one line. */
int graft_check_text(const struct graft_place *place, const char *field, const char *text, size_t max,
                     struct graft_error *error);

/* Checks a NULL-terminated list of strings, each like graft_check_text, or NULL. */
int graft_check_names(const struct graft_place *place, const char *field, const char *const *names,
                      struct graft_error *error);

/* Checks the name of a class: a string that is an identifier of Python. */
int graft_check_class_name(const struct graft_place *place, const char *field, const char *name,
                           struct graft_error *error);

/* Checks a path of a config field: "rope_parameters.rope_theta". */
int graft_check_path(const struct graft_place *place, const char *field, const char *path, struct graft_error *error);

/* Checks the id of an extension or an interface: "acme.gate/1". */
int graft_check_id(const struct graft_place *place, const char *field, const char *id, struct graft_error *error);

/* Whether only the host may define an id. */
int graft_is_host_id(const char *id);

/* Checks a regular expression, which must compile. */
int graft_check_pattern(const struct graft_place *place, const char *field, const char *pattern,
                        struct graft_error *error);

/* Checks a reserved member, which must be 0. */
int graft_check_zero(const struct graft_place *place, const char *field, uint32_t value, struct graft_error *error);

/* Checks that `flags` has no requirements (graft/abi.h) besides those in `known`. */
int graft_check_flags(const struct graft_place *place, uint32_t flags, uint32_t known, struct graft_error *error);

/* Checks a struct_size. */
int graft_check_size(const struct graft_place *place, uint32_t size, size_t needed, struct graft_error *error);

/* An array of structs that start with their size, or of pointers if `stride_field` is NULL. */
struct graft_array {
    const char *field;
    const char *count_field;
    const char *stride_field;
    const void *items;
    int32_t count;
    int32_t min_count;
    int32_t max_count;
    uint32_t stride;
    size_t element_size; /* the smallest size that the host can read */
};

/* Checks count, stride and address of an array. That is enough for structs that do not start with their size. */
int graft_check_list(const struct graft_place *place, const struct graft_array *array, struct graft_error *error);

/* Checks the same and each struct's size. */
int graft_check_array(const struct graft_place *place, const struct graft_array *array, struct graft_error *error);

/* Element `index` of a checked array. */
const void *graft_array_at(const void *items, uint32_t stride, int32_t index);

#endif
