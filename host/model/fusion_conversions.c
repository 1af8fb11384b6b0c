/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses two conversions that take the same tensor if one of them comes from a fusion, as nothing decides between
 * them. */
#include <string.h>

#include "base/fail.h"
#include "model/fusion.h"

/* A source of a conversion, and its module. */
struct site {
    const struct graft_node *node;
    const char *source;
    const struct graft_tree *tree;
};

/* The next component of "PATH.NAME"; "" at the end. */
static size_t next_part(const char **path, const char **name, const char **part) {
    const char **from = **path != '\0' ? path : name;
    size_t length = strcspn(*from, ".");
    *part = *from;
    *from += (*from)[length] == '.' ? length + 1 : length;
    return length;
}

/* Whether two sources may be the same tensor, where `*` matches any index. */
static int is_same(const struct site *a, const struct site *b) {
    const char *paths[] = {a->node->path, b->node->path};
    const char *names[] = {a->source, b->source};
    for (;;) {
        const char *parts[2];
        size_t left = next_part(&paths[0], &names[0], &parts[0]);
        size_t right = next_part(&paths[1], &names[1], &parts[1]);
        int any = (left == 1 && parts[0][0] == '*') || (right == 1 && parts[1][0] == '*');
        if (left == 0 || right == 0) {
            return left == right;
        }
        if (!any && (left != right || memcmp(parts[0], parts[1], left) != 0)) {
            return 0;
        }
    }
}

/* The family that fused the module, or NULL. */
static const struct graft_fusion_family *family_of(const struct graft_tree *tree, const struct graft_node *node) {
    for (size_t i = 0; i < tree->n_fused_modules; i++) {
        const struct graft_fused_modules *fused = tree->fused_modules[i];
        for (size_t k = 0; k < fused->n; k++) {
            if (graft_node_is_fused(node, fused->candidates[k])) {
                return graft_fusion_family_of(fused->known);
            }
        }
    }
    return NULL;
}

static int collide(const struct site *mine, const struct graft_node *node, struct graft_error *error) {
    const struct graft_fusion_family *other = family_of(mine->tree, node);
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, mine->node->path,
                          "fusion %s: its conversion of %s collides with that of %s%s at %s",
                          family_of(mine->tree, mine->node)->name, mine->source, other != NULL ? "fusion " : "",
                          other != NULL ? other->name : node->class_name, node->path);
    graft_error_hint(error, "ask for only one of them, or leave out the plugin that provides the other");
    return GRAFT_ERROR_PLUGIN;
}

static int compare(void *data, struct graft_node *node, struct graft_error *error) {
    const struct site *mine = data;
    if (node->described_by == NULL || node == mine->node || graft_nodes_share_tensors(node, mine->node)) {
        return GRAFT_OK;
    }
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        for (int32_t k = 0; k < conversion->n_sources; k++) {
            struct site other = {node, conversion->sources[k], mine->tree};
            if (is_same(mine, &other)) {
                return collide(mine, node, error);
            }
        }
    }
    return GRAFT_OK;
}

static int check_node(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_tree *tree = data;
    int status = GRAFT_OK;
    if (node->known == NULL || family_of(tree, node) == NULL) {
        return GRAFT_OK;
    }
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        for (int32_t k = 0; k < conversion->n_sources && status == GRAFT_OK; k++) {
            struct site mine = {node, conversion->sources[k], tree};
            status = graft_tree_walk(tree, compare, &mine, error);
        }
    }
    return status;
}

int graft_fusions_check_conversions(struct graft_tree *tree, struct graft_error *error) {
    return tree->n_fused_modules > 0 ? graft_tree_walk(tree, check_node, tree, error) : GRAFT_OK;
}
