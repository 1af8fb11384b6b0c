/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/map.h"

#include <string.h>

#include "base/alloc.h"

static void place(struct graft_map *map, uint64_t key, uint64_t value) {
    size_t i = (size_t)graft_map_mix(key) & (map->capacity - 1);
    while (map->slots[2 * i] != UINT64_MAX && map->slots[2 * i] != key) {
        i = (i + 1) & (map->capacity - 1);
    }
    map->count += map->slots[2 * i] != key;
    map->slots[2 * i] = key;
    map->slots[2 * i + 1] = value;
}

int graft_map_reserve(struct graft_map *map, size_t count) {
    struct graft_map wider = {0};
    size_t capacity = 16;
    while (capacity / 2 <= count && capacity <= SIZE_MAX / 64) {
        capacity *= 2;
    }
    if (capacity <= map->capacity) {
        return 0;
    }
    wider.slots = graft_alloc(capacity, 2 * sizeof *wider.slots);
    if (wider.slots == NULL) {
        return -1;
    }
    wider.capacity = capacity;
    memset(wider.slots, 0xFF, capacity * 2 * sizeof *wider.slots);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[2 * i] != UINT64_MAX) {
            place(&wider, map->slots[2 * i], map->slots[2 * i + 1]);
        }
    }
    graft_free(map->slots);
    *map = wider;
    return 0;
}

int graft_map_set(struct graft_map *map, uint64_t key, uint64_t value) {
    if (map->count + 1 > map->capacity / 2 && graft_map_reserve(map, map->count + 1) != 0) {
        return -1;
    }
    place(map, key, value);
    return 0;
}

void graft_map_free(struct graft_map *map) {
    graft_free(map->slots);
    *map = (struct graft_map){0};
}
