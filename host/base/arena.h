/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for many small objects that are freed together. */
#ifndef GRAFT_BASE_ARENA_H
#define GRAFT_BASE_ARENA_H

#include <stddef.h>

/* Starts as {0}. */
struct graft_arena {
    struct arena_chunk *last; /* the newest chunk, which links to the older ones; NULL: none */
    size_t used;              /* bytes used in the newest chunk */
};

/* Zeroed memory for `count` elements of `size` bytes, valid until graft_arena_finish; NULL if memory ran out. */
void *graft_arena_alloc(struct graft_arena *arena, size_t count, size_t size);

/* Allocates without zeroing, for objects that are filled completely. */
void *graft_arena_take(struct graft_arena *arena, size_t count, size_t size);

/* A copy of a string; NULL if memory ran out. */
const char *graft_arena_strdup(struct graft_arena *arena, const char *text);

void graft_arena_finish(struct graft_arena *arena);

#endif
