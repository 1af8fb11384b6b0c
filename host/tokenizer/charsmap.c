/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/charsmap.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

/* The parts of a unit. */
#define LEAF 0x80000000u
static uint32_t label_of(uint32_t unit) {
    return unit & (LEAF | 0xFF);
}
static uint32_t offset_of(uint32_t unit) {
    return (unit >> 10) << ((unit & 0x200) >> 6);
}
static int has_leaf(uint32_t unit) {
    return (unit >> 8 & 1) != 0;
}

/* Follows the edge for `byte`: reads its unit, and moves `at` to the base of that unit's children. Returns 0 if there
 * is no such edge. */
static int step(const struct graft_charsmap *map, unsigned char byte, uint32_t *at, uint32_t *unit) {
    uint32_t next = *at ^ byte;
    if (byte == 0 || next >= map->n || label_of(map->units[next]) != byte) {
        return 0;
    }
    *unit = map->units[next];
    *at = next ^ offset_of(*unit);
    return 1;
}

static struct graft_text_view text_at(const struct graft_charsmap *map, uint32_t at) {
    const char *text = map->texts + (at < map->n ? map->units[at] & ~LEAF : map->length);
    return (struct graft_text_view){text, strlen(text)};
}

struct graft_text_view graft_charsmap_find(const struct graft_charsmap *map, const char *text, size_t length) {
    uint32_t at = offset_of(map->units[0]), unit;
    if (length == 0 || !map->starts[(unsigned char)text[0]]) {
        return (struct graft_text_view){NULL, 0};
    }
    for (size_t i = 0; i < length && step(map, (unsigned char)text[i], &at, &unit); i++) {
        if (has_leaf(unit)) {
            return text_at(map, at);
        }
    }
    return (struct graft_text_view){NULL, 0};
}

/* Whether every leaf's value is the offset of a character's first byte. */
static int leaves_fit(const struct graft_charsmap *map) {
    size_t i = 0;
    while (i < map->n && ((map->units[i] & LEAF) == 0 || ((map->units[i] & ~LEAF) < map->length &&
                                                          (map->texts[map->units[i] & ~LEAF] & 0xC0) != 0x80))) {
        i++;
    }
    return i == map->n;
}

static void find_starts(struct graft_charsmap *map) {
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t at = offset_of(map->units[0]), unit;
        map->starts[byte] = (unsigned char)step(map, (unsigned char)byte, &at, &unit);
    }
}

static uint32_t read_u32(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int graft_charsmap_init(struct graft_charsmap *map, const char *bytes, size_t size, const char *file, const char *what,
                        struct graft_error *error) {
    size_t trie = size < 4 ? 0 : read_u32(bytes);
    if (trie == 0 || trie % 4 != 0 || trie > size - 4) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: %zu bytes do not hold a trie of %zu", what, size,
                               trie);
    }
    map->n = trie / 4;
    map->length = size - 4 - trie;
    map->units = graft_alloc(map->n, sizeof *map->units);
    map->texts = graft_strndup(bytes + 4 + trie, map->length);
    if (map->units == NULL || map->texts == NULL) {
        return graft_fail_memory(error, file);
    }
    for (size_t i = 0; i < map->n; i++) {
        map->units[i] = read_u32(bytes + 4 + 4 * i);
    }
    if (graft_utf8_valid_prefix(map->texts, map->length) != map->length || !leaves_fit(map)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: its replacements are not UTF-8, or end too early",
                               what);
    }
    find_starts(map);
    return GRAFT_OK;
}

void graft_charsmap_finish(struct graft_charsmap *map) {
    graft_free(map->units);
    graft_free(map->texts);
    *map = (struct graft_charsmap){0};
}
