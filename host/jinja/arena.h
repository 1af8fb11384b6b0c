/* SPDX-License-Identifier: Apache-2.0 */
/* An arena for one parse or one rendering: everything in it is freed at once. Its size is bounded, because a template
 * decides how much is allocated. Functions are [any]; an arena is used by one thread at a time. */
#ifndef GRAFT_JINJA_ARENA_H
#define GRAFT_JINJA_ARENA_H

#include <stddef.h>

struct graft_jinja_chunk;

/* Starts as {.limit = BYTES}. */
struct graft_jinja_arena {
    struct graft_jinja_chunk *chunks; /* the newest first */
    size_t room;                      /* bytes left in the newest chunk */
    char *at;
    size_t used;  /* bytes allocated from the system */
    size_t limit; /* limit on `used` */
    int over;     /* 1: the last call failed because of the limit; 0: because memory ran out */
};

/* Allocates zeroed memory for `count` elements of `size` bytes, aligned for any struct of this folder. NULL if memory
 * ran out or the limit is reached. */
void *graft_jinja_arena_take(struct graft_jinja_arena *arena, size_t count, size_t size);

/* Copies `length` bytes and adds a NUL. */
char *graft_jinja_arena_copy(struct graft_jinja_arena *arena, const char *bytes, size_t length);

void graft_jinja_arena_finish(struct graft_jinja_arena *arena);

#endif
