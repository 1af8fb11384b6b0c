/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/scratch.h"

#include "base/alloc.h"

enum { ALIGNMENT = 64, FIRST_CHUNK = 1 << 20 };

/* Chunks share one axis of positions, so that a mark is a single number. */
struct chunk {
    struct chunk *previous;
    struct chunk *next;
    char *bytes;
    int64_t capacity;
    int64_t start; /* position of its first byte */
    int64_t used;
};

struct graft_scratch {
    struct chunk *current; /* chunks before it are in use, chunks after it are empty */
};

static struct chunk *chunk_create(int64_t capacity) {
    struct chunk *chunk = (struct chunk *)graft_alloc(1, sizeof *chunk);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->bytes = (char *)graft_alloc_aligned(ALIGNMENT, (size_t)capacity);
    chunk->capacity = capacity;
    if (chunk->bytes == NULL) {
        graft_free(chunk);
        return NULL;
    }
    return chunk;
}

static void destroy_from(struct chunk *chunk) {
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        graft_free(chunk->bytes);
        graft_free(chunk);
        chunk = next;
    }
}

struct graft_scratch *graft_scratch_create(void) {
    struct graft_scratch *scratch = (struct graft_scratch *)graft_alloc(1, sizeof *scratch);
    if (scratch != NULL) {
        scratch->current = chunk_create(FIRST_CHUNK);
        if (scratch->current == NULL) {
            graft_free(scratch);
            return NULL;
        }
    }
    return scratch;
}

void graft_scratch_destroy(struct graft_scratch *scratch) {
    if (scratch != NULL) {
        graft_scratch_release(scratch, 0);
        destroy_from(scratch->current);
        graft_free(scratch);
    }
}

/* Makes a chunk with room for `bytes` the current one. Empty chunks that are too small are replaced by one of twice the
 * size. */
static int advance(struct graft_scratch *scratch, int64_t bytes) {
    struct chunk *current = scratch->current;
    if (current->next == NULL || current->next->capacity < bytes) {
        int64_t capacity = bytes > 2 * current->capacity ? bytes : 2 * current->capacity;
        struct chunk *fresh = chunk_create(capacity);
        if (fresh == NULL) {
            return -1;
        }
        destroy_from(current->next);
        current->next = fresh;
        fresh->previous = current;
    }
    current->next->start = current->start + current->capacity;
    current->next->used = 0;
    scratch->current = current->next;
    return 0;
}

void *graft_scratch_alloc(struct graft_scratch *scratch, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX / 4) {
        return NULL;
    }
    int64_t rounded = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    if (scratch->current->capacity - scratch->current->used < rounded && advance(scratch, rounded) != 0) {
        return NULL;
    }
    struct chunk *current = scratch->current;
    void *result = current->bytes + current->used;
    current->used += rounded;
    return result;
}

int64_t graft_scratch_mark(const struct graft_scratch *scratch) {
    return scratch->current->start + scratch->current->used;
}

void graft_scratch_release(struct graft_scratch *scratch, int64_t mark) {
    while (mark < scratch->current->start) {
        scratch->current->used = 0;
        scratch->current = scratch->current->previous;
    }
    scratch->current->used = mark - scratch->current->start;
}
