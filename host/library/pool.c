/* SPDX-License-Identifier: Apache-2.0 */
#include "library/pool.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

struct pool_chunk {
    struct pool_chunk *before;
    size_t bytes;
    max_align_t memory[];
};

/* What small things lie together in; what is larger has a chunk of its own. */
enum { CHUNK_BYTES = 1 << 16 };

void *graft_pool_alloc(struct pool *pool, size_t count, size_t size) {
    const size_t unit = sizeof(max_align_t);
    if (size > 0 && count > (SIZE_MAX - sizeof(struct pool_chunk) - unit) / size) {
        return NULL;
    }
    const size_t bytes = (count * size + unit - 1) / unit * unit;
    if (pool->last == NULL || bytes > pool->last->bytes - pool->used) {
        const size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct pool_chunk *chunk = graft_alloc(1, sizeof *chunk + room);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->before = pool->last;
        chunk->bytes = room;
        pool->last = chunk;
        pool->used = 0;
    }
    void *block = (char *)pool->last->memory + pool->used;
    pool->used += bytes;
    return block;
}

const char *graft_pool_strdup(struct pool *pool, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = graft_pool_alloc(pool, size, 1);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void graft_pool_finish(struct pool *pool) {
    for (struct pool_chunk *chunk = pool->last; chunk != NULL;) {
        struct pool_chunk *before = chunk->before;
        graft_free(chunk);
        chunk = before;
    }
    *pool = (struct pool){0};
}
