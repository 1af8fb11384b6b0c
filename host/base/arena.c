/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

struct arena_chunk {
    struct arena_chunk *before;
    size_t bytes;
    max_align_t memory[];
};

/* The size of a chunk of small objects; a larger object gets a chunk of its own. */
enum { CHUNK_BYTES = 1 << 16 };

void *graft_arena_take(struct graft_arena *arena, size_t count, size_t size) {
    const size_t unit = sizeof(max_align_t);
    if (size > 0 && count > (SIZE_MAX - sizeof(struct arena_chunk) - unit) / size) {
        return NULL;
    }
    const size_t bytes = (count * size + unit - 1) / unit * unit;
    if (arena->last == NULL || bytes > arena->last->bytes - arena->used) {
        const size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct arena_chunk *chunk = graft_realloc(NULL, 1, sizeof *chunk + room);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->before = arena->last;
        chunk->bytes = room;
        arena->last = chunk;
        arena->used = 0;
    }
    void *block = (char *)arena->last->memory + arena->used;
    arena->used += bytes;
    return block;
}

void *graft_arena_alloc(struct graft_arena *arena, size_t count, size_t size) {
    void *block = graft_arena_take(arena, count, size);
    return block != NULL ? memset(block, 0, count * size) : NULL;
}

const char *graft_arena_strdup(struct graft_arena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = graft_arena_take(arena, size, 1);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void graft_arena_finish(struct graft_arena *arena) {
    for (struct arena_chunk *chunk = arena->last; chunk != NULL;) {
        struct arena_chunk *before = chunk->before;
        graft_free(chunk);
        chunk = before;
    }
    *arena = (struct graft_arena){0};
}
