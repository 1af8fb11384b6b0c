/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one parse or one rendering: pieces are never given back one by one, all of them at once. Bounded, because
 * a template decides how much is asked for. Functions are [any], an arena belongs to one thread.
 */
#ifndef GRAFT_JINJA_ARENA_H
#define GRAFT_JINJA_ARENA_H

#include <stddef.h>

struct graft_jinja_chunk;

/* Starts as {.limit = BYTES}. */
struct graft_jinja_arena {
    struct graft_jinja_chunk *chunks; /* the newest first */
    size_t room;                      /* bytes left in the newest */
    char *at;
    size_t used;  /* bytes asked of the system */
    size_t limit; /* bytes that may be */
    int over;     /* the limit was met: why the last call failed, if not for lack of memory */
};

/* Zeroed memory for `count` elements of `size` bytes, aligned for any of our structs; NULL when there is none. */
void *graft_jinja_arena_take(struct graft_jinja_arena *arena, size_t count, size_t size);

/* A copy of `length` bytes and a NUL. */
char *graft_jinja_arena_copy(struct graft_jinja_arena *arena, const char *bytes, size_t length);

void graft_jinja_arena_finish(struct graft_jinja_arena *arena);

#endif
