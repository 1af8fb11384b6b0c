/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/renaming.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static uint32_t add_to_hash(uint32_t hash, char letter) {
    return (hash ^ (unsigned char)letter) * UINT32_C(0x01000193); /* FNV-1a */
}

/* The slot of the module at a path of `length` bytes, or an empty one. */
static uint32_t *find_slot(const struct renamings *renamings, const char *path, size_t length, uint32_t hash) {
    size_t at = hash & (renamings->n_slots - 1);
    while (renamings->slots[at] != 0) {
        const char *module = renamings->items[renamings->slots[at] - 1].module;
        if (strncmp(module, path, length) == 0 && module[length] == '\0') {
            break;
        }
        at = (at + 1) & (renamings->n_slots - 1);
    }
    return &renamings->slots[at];
}

/* The innermost renamed module that a name is or is below; `*length` becomes the length of its path. NULL if there is
 * none. */
static const struct renaming *find(const struct renamings *renamings, const char *name, size_t *length) {
    uint32_t innermost = 0, hash = 0;
    for (size_t i = 0; renamings->count > 0; i++) {
        if (i > 0 && (name[i] == '.' || name[i] == '\0')) {
            const uint32_t found = *find_slot(renamings, name, i, hash);
            innermost = found != 0 ? found : innermost;
            *length = found != 0 ? i : *length;
        }
        if (name[i] == '\0') {
            break;
        }
        hash = add_to_hash(hash, name[i]);
    }
    return innermost != 0 ? &renamings->items[innermost - 1] : NULL;
}

/* The innermost renamed module counts, as its other name includes those of the modules above. */
const struct graft_conversion *graft_renamings_apply(const struct renamings *renamings, const char *name,
                                                     char renamed[GRAFT_NAME_BYTES]) {
    char parent[GRAFT_NAME_BYTES];
    size_t length = 0;
    const struct renaming *renaming = find(renamings, name, &length);
    if (renaming == NULL) {
        return NULL;
    }
    const char *above = graft_renamings_apply(renamings, renaming->parent, parent) != NULL ? parent : renaming->parent;
    if (!graft_name_below(above, renaming->conversion->sources[0], renamed)) {
        return NULL;
    }
    const size_t before = strlen(renamed), rest = strlen(name + length);
    if (before + rest >= GRAFT_NAME_BYTES) {
        return NULL;
    }
    memcpy(renamed + before, name + length, rest + 1);
    return renaming->conversion;
}

static int collect(void *data, struct graft_node *node, struct graft_error *error) {
    struct renamings *renamings = data;
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        const struct graft_node *child =
            conversion->n_operations == 0 ? graft_node_find(node, conversion->targets[0]) : NULL;
        if (child == NULL) {
            continue;
        }
        if (graft_grow(&renamings->items, &renamings->capacity, renamings->count, sizeof *renamings->items) != 0) {
            return graft_fail_memory(error, node->path);
        }
        renamings->items[renamings->count++] = (struct renaming){child->path, node->path, conversion};
    }
    return GRAFT_OK;
}

/* Makes the hash table, with at least twice as many slots as items. */
static int index_modules(struct renamings *renamings) {
    size_t n = 2;
    while (n < 2 * renamings->count) {
        n *= 2;
    }
    renamings->slots = renamings->count < UINT32_MAX ? graft_alloc(n, sizeof *renamings->slots) : NULL;
    if (renamings->slots == NULL) {
        return -1;
    }
    renamings->n_slots = n;
    for (size_t i = 0; i < renamings->count; i++) {
        const char *module = renamings->items[i].module;
        uint32_t hash = 0;
        for (const char *at = module; *at != '\0'; at++) {
            hash = add_to_hash(hash, *at);
        }
        *find_slot(renamings, module, strlen(module), hash) = (uint32_t)i + 1;
    }
    return 0;
}

int graft_renamings_collect(struct graft_tree *tree, struct renamings *renamings, struct graft_error *error) {
    int status = graft_tree_walk(tree, collect, renamings, error);
    if (status == GRAFT_OK && renamings->count > 0 && index_modules(renamings) != 0) {
        status = graft_fail_memory(error, "conversions");
    }
    if (status != GRAFT_OK) {
        renamings->count = 0; /* without slots no renaming is found */
    }
    return status;
}

void graft_renamings_free(struct renamings *renamings) {
    graft_free(renamings->items);
    graft_free(renamings->slots);
    *renamings = (struct renamings){0};
}
