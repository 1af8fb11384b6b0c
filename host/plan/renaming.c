/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/renaming.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

/* How a path of `length` bytes lies to a renaming's module: as strcmp. */
static int compare_path(const char *path, size_t length, const char *module) {
    int order = strncmp(path, module, length);
    return order != 0 ? order : -(module[length] != '\0');
}

/* The last renaming of the module at a path, or NULL. */
static const struct renaming *find(const struct renamings *renamings, const char *path, size_t length) {
    size_t low = 0, high = renamings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_path(path, length, renamings->items[middle].module) < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low > 0 && compare_path(path, length, renamings->items[low - 1].module) == 0 ? &renamings->items[low - 1]
                                                                                        : NULL;
}

/* The innermost module that has another name counts: that name contains those of the modules above. */
const struct graft_conversion *graft_renamings_apply(const struct renamings *renamings, const char *name,
                                                     char renamed[GRAFT_NAME_BYTES]) {
    const struct renaming *renaming = NULL;
    size_t length = renamings->count > 0 ? strlen(name) : 0;
    while (length > 0 && (renaming = find(renamings, name, length)) == NULL) {
        do {
            length--;
        } while (length > 0 && name[length] != '.');
    }
    if (renaming == NULL) {
        return NULL;
    }
    const size_t before = strlen(renaming->other), rest = strlen(name + length);
    if (before + rest >= GRAFT_NAME_BYTES) {
        return NULL;
    }
    memcpy(renamed, renaming->other, before);
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
        renamings->items[renamings->count] =
            (struct renaming){child->path, node->path, NULL, conversion, renamings->count};
        renamings->count++;
    }
    return GRAFT_OK;
}

static int by_module(const void *a, const void *b) {
    const struct renaming *left = a, *right = b;
    int order = strcmp(left->module, right->module);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Names beside the modules' own, below what their parents are renamed to, which lie before them. Modules of one parent
 * follow each other. */
static int set_others(struct renamings *renamings, struct graft_error *error) {
    struct renamings before = *renamings;
    char renamed[GRAFT_NAME_BYTES];
    const char *last = NULL, *parent = NULL;
    for (before.count = 0; before.count < renamings->count; before.count++) {
        struct renaming *renaming = &renamings->items[before.count];
        if (last != renaming->parent) {
            last = renaming->parent;
            parent = graft_renamings_apply(&before, last, renamed) != NULL ? renamed : last;
        }
        renaming->other =
            graft_format("%s%s%s", parent, parent[0] != '\0' ? "." : "", renaming->conversion->sources[0]);
        if (renaming->other == NULL) {
            return graft_fail_memory(error, renaming->module);
        }
    }
    return GRAFT_OK;
}

int graft_renamings_collect(struct graft_tree *tree, struct renamings *renamings, struct graft_error *error) {
    int status = graft_tree_walk(tree, collect, renamings, error);
    if (status == GRAFT_OK && renamings->count > 0) {
        qsort(renamings->items, renamings->count, sizeof *renamings->items, by_module);
        status = set_others(renamings, error);
    }
    return status;
}

void graft_renamings_free(struct renamings *renamings) {
    for (size_t i = 0; i < renamings->count; i++) {
        graft_free(renamings->items[i].other);
    }
    graft_free(renamings->items);
    *renamings = (struct renamings){0};
}
