/* SPDX-License-Identifier: Apache-2.0 */
#include "jinja/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { CHUNK_BYTES = 1 << 14, ALIGNMENT = 16 };

struct graft_jinja_chunk {
    struct graft_jinja_chunk *before;
    max_align_t bytes[];
};

static int add_chunk(struct graft_jinja_arena *arena, size_t bytes) {
    size_t whole = sizeof(struct graft_jinja_chunk) + bytes;
    arena->over = whole > arena->limit - arena->used;
    struct graft_jinja_chunk *chunk = arena->over ? NULL : graft_alloc(1, whole);
    if (chunk == NULL) {
        return -1;
    }
    chunk->before = arena->chunks;
    arena->chunks = chunk;
    arena->at = (char *)chunk->bytes;
    arena->room = bytes;
    arena->used += whole;
    return 0;
}

void *graft_jinja_arena_take(struct graft_jinja_arena *arena, size_t count, size_t size) {
    if (count > (SIZE_MAX / 2 - ALIGNMENT) / size) {
        arena->over = 1;
        return NULL;
    }
    size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > arena->room && add_chunk(arena, bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES) != 0) {
        return NULL;
    }
    void *taken = arena->at;
    arena->at += bytes;
    arena->room -= bytes;
    return taken;
}

char *graft_jinja_arena_copy(struct graft_jinja_arena *arena, const char *bytes, size_t length) {
    char *copy = graft_jinja_arena_take(arena, length + 1, 1);
    if (copy != NULL && length > 0) {
        memcpy(copy, bytes, length);
    }
    return copy;
}

void graft_jinja_arena_finish(struct graft_jinja_arena *arena) {
    while (arena->chunks != NULL) {
        struct graft_jinja_chunk *before = arena->chunks->before;
        graft_free(arena->chunks);
        arena->chunks = before;
    }
    *arena = (struct graft_jinja_arena){.limit = arena->limit};
}
