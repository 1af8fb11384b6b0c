/* SPDX-License-Identifier: Apache-2.0 */
/* model.safetensors.index.json: which file holds which tensor. All functions are [load]. */
#ifndef GRAFT_WEIGHTS_SHARD_INDEX_H
#define GRAFT_WEIGHTS_SHARD_INDEX_H

#include <stddef.h>

#include "base/json.h"
#include "graft/error.h"

struct graft_shard_entry {
    const char *file;   /* relative to the index's folder, without `.` and `..`, and without a leading "./" */
    const char *tensor; /* name of the tensor */
};

struct graft_shard_index {
    graft_json *document;
    const graft_json *weight_map;      /* the member of the document */
    struct graft_shard_entry *entries; /* [count], sorted by file, then by tensor; texts belong to the document */
    size_t count;
};

/* Reads and checks an index. Errors (GRAFT_ERROR_MODEL) name the index, the tensor and the file. On failure `index` is
 * finished. */
int graft_shard_index_read(const char *path, struct graft_shard_index *index, struct graft_error *error);
void graft_shard_index_finish(struct graft_shard_index *index);

/* The file that the index lists for a tensor; NULL if it does not list the tensor. */
const char *graft_shard_index_file(const struct graft_shard_index *index, const char *tensor);

#endif
