/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "validate/guard.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BOUNDARY = 64, CANARY = 0x5C };

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

int graft_guard_make(size_t bytes, struct graft_guard *guard) {
    size_t page = page_size();
    size_t rounded = (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    size_t room = (rounded + page - 1) / page * page;
    *guard = (struct graft_guard){.bytes = bytes, .map_bytes = room + 2 * page};
    void *map = mmap(NULL, guard->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return -1;
    }
    guard->map = map;
    if (room > 0 && mprotect(guard->map + page, room, PROT_READ | PROT_WRITE) != 0) {
        graft_guard_free(guard);
        return -1;
    }
    guard->data = guard->map + page + room - rounded;
    memset(guard->map + page, CANARY, room);
    return 0;
}

void graft_guard_seal(const struct graft_guard *guard) {
    size_t page = page_size();
    (void)mprotect(guard->map + page, guard->map_bytes - 2 * page, PROT_READ);
}

int graft_guard_is_whole(const struct graft_guard *guard) {
    size_t page = page_size();
    const unsigned char *begin = guard->map + page, *end = guard->map + guard->map_bytes - page;
    const unsigned char *data = guard->data;
    for (const unsigned char *at = begin; at < end; at++) {
        if ((at < data || at >= data + guard->bytes) && *at != CANARY) {
            return 0;
        }
    }
    return 1;
}

void graft_guard_free(struct graft_guard *guard) {
    if (guard->map != NULL) {
        (void)munmap(guard->map, guard->map_bytes);
    }
    *guard = (struct graft_guard){0};
}
