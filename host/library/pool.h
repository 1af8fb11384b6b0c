/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for many small things that end together. */
#ifndef GRAFT_LIBRARY_POOL_H
#define GRAFT_LIBRARY_POOL_H

#include <stddef.h>

/* Starts as {0}. */
struct pool {
    struct pool_chunk *last; /* which has those before it; NULL: none */
    size_t used;             /* bytes of the last one */
};

/* Zeroed memory for `count` elements of `size` bytes, valid until graft_pool_finish; NULL if memory ran out. */
void *graft_pool_alloc(struct pool *pool, size_t count, size_t size);

/* A copy of a string; NULL if memory ran out. */
const char *graft_pool_strdup(struct pool *pool, const char *text);

void graft_pool_finish(struct pool *pool);

#endif
