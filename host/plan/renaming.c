/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/renaming.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

const struct graft_conversion *graft_renamings_apply(const struct renamings *renamings, const char *name,
                                                     char renamed[GRAFT_NAME_BYTES]) {
    for (size_t i = renamings->count; i > 0; i--) {
        const struct renaming *renaming = &renamings->items[i - 1];
        size_t length = strlen(renaming->module);
        if (strncmp(name, renaming->module, length) == 0 && (name[length] == '.' || name[length] == '\0')) {
            int written = snprintf(renamed, GRAFT_NAME_BYTES, "%s%s", renaming->other, name + length);
            return written >= 0 && written < GRAFT_NAME_BYTES ? renaming->conversion : NULL;
        }
    }
    return NULL;
}

/* `source` beside the module's own name, below what its parents are renamed to. */
static char *other_name(const struct renamings *renamings, const struct graft_node *node, const char *source) {
    char renamed[GRAFT_NAME_BYTES];
    const char *parent = graft_renamings_apply(renamings, node->path, renamed) != NULL ? renamed : node->path;
    return graft_format("%s%s%s", parent, parent[0] != '\0' ? "." : "", source);
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
        char *other = other_name(renamings, node, conversion->sources[0]);
        if (other == NULL ||
            graft_grow(&renamings->items, &renamings->capacity, renamings->count, sizeof *renamings->items) != 0) {
            graft_free(other);
            return graft_fail_memory(error, node->path);
        }
        renamings->items[renamings->count++] = (struct renaming){child->path, other, conversion};
    }
    return GRAFT_OK;
}

int graft_renamings_collect(struct graft_tree *tree, struct renamings *renamings, struct graft_error *error) {
    return graft_tree_walk(tree, collect, renamings, error);
}

void graft_renamings_free(struct renamings *renamings) {
    for (size_t i = 0; i < renamings->count; i++) {
        graft_free(renamings->items[i].other);
    }
    graft_free(renamings->items);
    *renamings = (struct renamings){0};
}
