/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads transforms from the JSON of patch files (docs/patch.md). Reading is strict: unknown members, wrong types and
 * missing members are errors that name file and field. Patterns are not compiled here.
 */
#ifndef GRAFT_NAMES_TRANSFORM_READ_H
#define GRAFT_NAMES_TRANSFORM_READ_H

#include "base/json_field.h"
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

/* [any] Adds the transform that an object describes. */
int graft_transform_read(const struct graft_field *object, struct transforms_read *read, struct graft_error *error);
void graft_transforms_read_finish(struct transforms_read *read);

/* [any] Keeps a block until `read` is finished. If memory runs out, the block is freed at once. */
int graft_transforms_read_keep(struct transforms_read *read, void *block_take, const char *file,
                               struct graft_error *error);

/* [any] Reads the member `operations` of an object, an array; `read` owns the result. */
int graft_operations_read(const struct graft_field *object, struct transforms_read *read,
                          const struct graft_operation **operations, int32_t *n, struct graft_error *error);

#endif
