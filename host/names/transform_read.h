/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads transforms from the JSON of patch files (docs/patch.md). Reading is strict: unknown members, wrong types and
 * missing members are errors that name file and field. Patterns are not compiled here.
 */
#ifndef GRAFT_NAMES_TRANSFORM_READ_H
#define GRAFT_NAMES_TRANSFORM_READ_H

#include "base/json.h"
#include "graft/host/registry.h"
#include "names/named_operation.h"

/* The transforms read so far. Starts as {0}, except for the custom operations that may be named. Strings belong to the
 * document. */
struct transforms_read {
    const struct graft_named_operation *operations; /* [n_operations] */
    size_t n_operations;
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    void **blocks; /* memory that the items point to */
    size_t n_blocks;
    size_t block_capacity;
};

/* [any] Adds the transform that `value` describes. Errors (GRAFT_ERROR_USAGE) name `file` and `field`, the value's
 * place in it: "conversions[2]". */
int graft_transform_read(const graft_json *value, const char *file, const char *field, struct transforms_read *read,
                         struct graft_error *error);
void graft_transforms_read_finish(struct transforms_read *read);

/* [any] Keeps a block until `read` is finished. If memory runs out, the block is freed at once. */
int graft_transforms_read_keep(struct transforms_read *read, void *block_take, const char *file,
                               struct graft_error *error);

/* [any] The place of a value: a file, and a field such as "conversions[2]" or "conversions[2].operations[0].dim". */
struct json_place {
    const char *file;
    const char *field;
};

/* [any] Reads the member `operations` of an object, an array; `read` owns the result. */
int graft_operations_read(const struct json_place *place, const graft_json *object, struct transforms_read *read,
                          const struct graft_operation **operations, int32_t *n, struct graft_error *error);

/* [any] Sets the error "FILE: FIELD.KEY: expected WHAT, got a string"; `value` is what was found, or NULL if the member
 * is missing. */
int graft_json_place_wrong(const struct json_place *place, const char *key, const char *expected,
                           const graft_json *value, struct graft_error *error);

/* [any] Checks that an object has no members besides `keys` (NULL-terminated). */
int graft_json_place_only(const struct json_place *place, const graft_json *object, const char *const *keys,
                          struct graft_error *error);

/* [any] Reads an optional string; null counts as absent. */
int graft_json_place_string(const struct json_place *place, const graft_json *object, const char *key,
                            const char **string, struct graft_error *error);

/* [any] Reads a string, or an array of at least one string, into `*strings`, a NULL-terminated array that the caller
 * frees with graft_free. */
int graft_json_place_strings(const struct json_place *place, const graft_json *object, const char *key,
                             const char ***strings, size_t *n, struct graft_error *error);

#endif
