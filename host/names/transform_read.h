/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms as JSON, in the form of patch files (docs/patch.md). Reading is strict: unknown members, wrong types and
 * missing members are errors that name file and field. Patterns are not compiled here.
 */
#ifndef GRAFT_NAMES_TRANSFORM_READ_H
#define GRAFT_NAMES_TRANSFORM_READ_H

#include "base/json.h"
#include "graft/host/registry.h"
#include "names/named_operation.h"

/* Starts as {0}, but for the custom operations that may be asked for. Strings are the document's. */
struct transforms_read {
    const struct graft_named_operation *operations; /* [n_operations] */
    size_t n_operations;
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    void **blocks; /* what the items point to */
    size_t n_blocks;
    size_t block_capacity;
};

/* [any] Adds the transform that `value` describes. `file` is the source of errors (GRAFT_ERROR_USAGE), `field` where in
 * it the value is: "conversions[2]". */
int graft_transform_read(const graft_json *value, const char *file, const char *field, struct transforms_read *read,
                         struct graft_error *error);
void graft_transforms_read_finish(struct transforms_read *read);

/* [any] Has a block freed when reading is finished; on failure, which is out of memory, it is freed now. */
int graft_transforms_read_keep(struct transforms_read *read, void *block_take, const char *file,
                               struct graft_error *error);

/* [any] Where a value is: FILE, and "conversions[2]" or "conversions[2].operations[0].dim". */
struct json_place {
    const char *file;
    const char *field;
};

/* [any] The member `operations` of an object, an array; `read` keeps it. */
int graft_operations_read(const struct json_place *place, const graft_json *object, struct transforms_read *read,
                          const struct graft_operation **operations, int32_t *n, struct graft_error *error);

/* [any] "FILE: FIELD.KEY: expected WHAT, got a string"; `value` (NULL: it is not there) is what was found. */
int graft_json_place_wrong(const struct json_place *place, const char *key, const char *expected,
                           const graft_json *value, struct graft_error *error);

/* [any] Whether an object has no member but `keys` (NULL-terminated). */
int graft_json_place_only(const struct json_place *place, const graft_json *object, const char *const *keys,
                          struct graft_error *error);

/* [any] An optional string; null is as good as absent. */
int graft_json_place_string(const struct json_place *place, const graft_json *object, const char *key,
                            const char **string, struct graft_error *error);

/* [any] A string, or an array of strings, of which there must be at least one, into `*strings`: the caller's by
 * graft_free, and NULL-terminated. */
int graft_json_place_strings(const struct json_place *place, const graft_json *object, const char *key,
                             const char ***strings, size_t *n, struct graft_error *error);

#endif
