/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit keys to 64-bit values: open addressing, nothing is ever removed. */
#ifndef GRAFT_TOKENIZER_MAP_H
#define GRAFT_TOKENIZER_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. The key UINT64_MAX marks a free slot and cannot be stored. */
struct graft_map {
    uint64_t *slots; /* [capacity, 2] key, value */
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

/* Mixes the bits of a number into a hash. */
static inline uint64_t graft_map_mix(uint64_t bits) {
    bits = (bits ^ bits >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ bits >> 29) * UINT64_C(0xD6E8FEB86659FD93);
    return bits ^ bits >> 32;
}

/* [load] Room for `count` entries, so that adding them does not move the table. Returns 0, or -1 out of memory. */
int graft_map_reserve(struct graft_map *map, size_t count);

/* [load] Adds an entry or replaces its value. Returns 0, or -1 if memory ran out. */
int graft_map_set(struct graft_map *map, uint64_t key, uint64_t value);

/* [any] NULL when there is no such key. */
static inline const uint64_t *graft_map_get(const struct graft_map *map, uint64_t key) {
    if (map->capacity == 0) {
        return NULL;
    }
    for (size_t i = (size_t)graft_map_mix(key) & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        const uint64_t *slot = map->slots + 2 * i;
        if (slot[0] == key) {
            return slot + 1;
        }
        if (slot[0] == UINT64_MAX) {
            return NULL;
        }
    }
}

void graft_map_free(struct graft_map *map);

#endif
