/* SPDX-License-Identifier: Apache-2.0 */
/* Which file holds which tensor. Shared by the units of this folder only; all functions are [load]. */
#ifndef GRAFT_SAVE_SHARDS_H
#define GRAFT_SAVE_SHARDS_H

#include "save/content.h"

struct save_shards {
    size_t *of; /* [n_tensors of the content]: the file's number, from 0 */
    size_t n;   /* files; at least 1 */
};

/* Fills one file after another, like transformers: a tensor that would make a file larger than `max_bytes` starts the
 * next file, and a tensor larger than that gets a file of its own. */
int graft_save_shards_split(const struct save_content *content, int64_t max_bytes, struct save_shards *shards,
                            struct graft_error *error);
void graft_save_shards_finish(struct save_shards *shards);

/* "model.safetensors", or "model-00001-of-00003.safetensors". */
enum { SAVE_SHARD_NAME = 64 };
void graft_save_shard_name(const struct save_shards *shards, size_t shard, char name[SAVE_SHARD_NAME]);

/* Writes model.safetensors.index.json to `text`. If memory ran out, `text->failed` is set. */
struct graft_text;
void graft_save_shards_index(const struct save_shards *shards, const struct save_content *content,
                             struct graft_text *text);

#endif
