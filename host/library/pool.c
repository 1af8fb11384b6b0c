/* SPDX-License-Identifier: Apache-2.0 */
#include "library/pool.h"

#include <string.h>

#include "base/alloc.h"

void *graft_pool_alloc(struct pool *pool, size_t count, size_t size) {
    if (graft_grow(&pool->blocks, &pool->capacity, pool->n, sizeof *pool->blocks) != 0) {
        return NULL;
    }
    void *block = graft_alloc(count, size);
    if (block != NULL) {
        pool->blocks[pool->n++] = block;
    }
    return block;
}

const char *graft_pool_strdup(struct pool *pool, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = graft_pool_alloc(pool, size, 1);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void graft_pool_finish(struct pool *pool) {
    for (size_t i = 0; i < pool->n; i++) {
        graft_free(pool->blocks[i]);
    }
    graft_free(pool->blocks);
    *pool = (struct pool){0};
}
