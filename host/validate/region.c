/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "validate/region.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "validate/crash.h"

enum { CANARY = 0x5C, MOST = 1 << 22 };

/* Reserved address space for all regions, known to the signal handler; memory is used as regions are made. */
static struct graft_region *regions;
static size_t count;
static enum graft_region_side guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

void graft_region_set_side(enum graft_region_side side) {
    guarded = side;
}

/* Returns entry number `count`, or NULL if all are used. */
static struct graft_region *next_entry(void) {
    struct graft_region *entry = NULL;
    (void)pthread_mutex_lock(&lock);
    if (regions == NULL) {
        void *room = mmap(NULL, MOST * sizeof *regions, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        regions = room != MAP_FAILED ? room : NULL;
    }
    if (regions != NULL && count < MOST) {
        entry = &regions[count++];
    }
    (void)pthread_mutex_unlock(&lock);
    return entry;
}

/* A block whose size is not a multiple of 16 cannot hold types with an alignment of 16. */
static size_t natural_alignment(size_t bytes) {
    return bytes % 16 == 0 ? 16 : 8;
}

struct graft_region *graft_region_make(enum graft_region_kind kind, const char *name, size_t bytes, size_t alignment,
                                       int32_t element) {
    const size_t page = page_size();
    const size_t taken = round_up(bytes, alignment != 0 ? alignment : natural_alignment(bytes));
    const size_t room = round_up(taken, page);
    struct graft_region *region = next_entry();
    void *map = region != NULL
                    ? mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                    : MAP_FAILED;
    if (map == MAP_FAILED) {
        return NULL;
    }
    char *first = (char *)map + page;
    if (room > 0 && mprotect(first, room, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(map, room + 2 * page);
        return NULL;
    }
    *region = (struct graft_region){.map_bytes = room + 2 * page,
                                    .data = guarded == GRAFT_REGION_GUARD_AFTER ? first + room - taken : first,
                                    .bytes = bytes,
                                    .kind = (int32_t)kind,
                                    .element = element};
    (void)snprintf(region->name, sizeof region->name, "%s", name);
    graft_crash_running(region->owner, sizeof region->owner);
    memset(first, CANARY, room);
    memset(region->data, 0, bytes);
    region->map = map; /* from here on graft_region_around finds it */
    return region;
}

static void protect(struct graft_region *region, int protection) {
    const size_t page = page_size();
    if (region->map_bytes > 2 * page) {
        (void)mprotect(region->map + page, region->map_bytes - 2 * page, protection);
    }
}

void graft_region_seal(struct graft_region *region) {
    region->state = GRAFT_REGION_READ_ONLY;
    protect(region, PROT_READ);
}

void graft_region_end(struct graft_region *region, enum graft_region_state state) {
    region->state = (int32_t)state;
    if (region->map_bytes > 0) {
        (void)madvise(region->map, region->map_bytes,
                      MADV_DONTNEED); /* keeps the address range, gives back the memory */
    }
    protect(region, PROT_NONE);
}

int graft_region_is_whole(const struct graft_region *region) {
    const size_t page = page_size();
    const char *begin = region->map + page, *end = region->map + region->map_bytes - page;
    for (const char *at = begin; at < end; at++) {
        if ((at < region->data || at >= region->data + region->bytes) && *at != CANARY) {
            return 0;
        }
    }
    return 1;
}

void graft_region_forget(void) {
    for (size_t i = 0; i < count; i++) {
        const int is_kept = regions[i].kind == GRAFT_REGION_BLOCK && regions[i].state == GRAFT_REGION_OPEN;
        if (regions[i].map != NULL && !is_kept) {
            (void)munmap(regions[i].map, regions[i].map_bytes);
            regions[i].map = NULL;
        }
    }
}

struct graft_region *graft_region_at(const void *data) {
    for (size_t i = count; data != NULL && i-- > 0;) {
        if (regions[i].map != NULL && regions[i].data == data && regions[i].state <= GRAFT_REGION_READ_ONLY) {
            return &regions[i];
        }
    }
    return NULL;
}

const struct graft_region *graft_region_around(const void *address) {
    const char *at = address;
    for (size_t i = count; i-- > 0;) {
        if (regions[i].map != NULL && at >= regions[i].map && at < regions[i].map + regions[i].map_bytes) {
            return &regions[i];
        }
    }
    return NULL;
}

struct graft_region *graft_region_number(size_t i) {
    return i < count && regions[i].map != NULL ? &regions[i] : NULL;
}

size_t graft_region_count(void) {
    return count;
}

void graft_region_end_borrowed(size_t first, enum graft_region_kind kind) {
    for (size_t i = first; i < count; i++) {
        if (regions[i].map != NULL && regions[i].kind == (int32_t)kind && regions[i].state < GRAFT_REGION_ENDED) {
            graft_region_end(&regions[i], GRAFT_REGION_ENDED);
        }
    }
}
