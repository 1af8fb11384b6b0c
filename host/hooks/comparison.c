/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/comparison.h"

#include <string.h>

#include "base/alloc.h"
#include "hooks/bytes.h"
#include "hooks/group.h"
#include "kernels/cache.h"

static struct graft_compared_node *find(const struct graft_tree_comparison *comparison, const struct graft_node *node) {
    for (size_t i = 0; i < comparison->count; i++) {
        if (comparison->items[i].node == node) {
            return &comparison->items[i];
        }
    }
    return NULL;
}

static int wants(void *data, const struct graft_node *node) {
    const struct graft_compared_node *compared = find(data, node);
    return compared != NULL && compared->reason == NULL;
}

/* Whether the original runs before the replacement, which alternates from call to call, so that neither always finds
 * the weights in the processor's cache. */
static int original_first(const struct graft_compared_node *compared) {
    return compared->calls % 2 == 0;
}

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_tree_comparison *comparison = data;
    struct graft_compared_node *compared = find(comparison, hooked->node);
    const struct graft_call *call = hooked->call;
    hooked->data = NULL;
    if (hooked->n_views == 0) {
        compared->reason = "the sizes of its arguments are not known";
        return GRAFT_OK;
    }
    if (compared->cache == NULL) {
        compared->cache = graft_cache_create(comparison->slots, comparison->kv_dtype);
    }
    struct graft_original_call *original = call->scratch_alloc(call->scratch, sizeof *original);
    if (compared->cache == NULL || original == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    *original = (struct graft_original_call){.module = &compared->original->module, .cache = compared->cache};
    hooked->data = original;
    int status = graft_original_call_prepare(original, hooked, error);
    return status == GRAFT_OK && original_first(compared) ? graft_original_call_run(original, hooked, error) : status;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_compared_node *compared = find(data, hooked->node);
    struct graft_original_call *original = hooked->data;
    if (original == NULL) {
        return GRAFT_OK;
    }
    int status = original_first(compared) ? GRAFT_OK : graft_original_call_run(original, hooked, error);
    if (status == GRAFT_OK) {
        struct graft_difference found = graft_original_call_compare(original, hooked);
        compared->largest.difference =
            found.difference > compared->largest.difference ? found.difference : compared->largest.difference;
        compared->largest.value = found.value > compared->largest.value ? found.value : compared->largest.value;
        compared->seconds += hooked->seconds;
        compared->original_seconds += original->seconds;
        compared->calls++;
    }
    return status;
}

struct search {
    struct graft_tree_comparison *comparison;
    const struct graft_tree *tree;
    const struct graft_tree *original;
    int other_weights;
    size_t capacity;
};

/* Why the original model's module at the same path cannot run on the same input; NULL if it can. */
static const char *incomparable(const struct graft_tree *tree, const struct graft_node *node,
                                const struct graft_node *original) {
    if (graft_group_has(tree, node) && graft_group_above(tree, node) != node) {
        return graft_group_above(tree, node) != NULL
                   ? "it is replaced together with others of its group, which are compared as parts of the module that "
                     "holds them"
                   : "it is replaced together with others of its group: their inputs differ from the originals'";
    }
    if (original == NULL || original->made_by == NULL) {
        return "the original model has no module at this path";
    }
    if (!graft_can_hook(node)) {
        return "its interface is a plugin's own: its arguments are not known";
    }
    if (graft_has_forward_hook(node)) {
        return "it is fused with its neighbours: they run together, when the last of them is called";
    }
    if (strcmp(original->made_by->cls->interface_id, node->made_by->cls->interface_id) != 0) {
        return "the original model has a module of another interface at this path";
    }
    return NULL;
}

/* Whether the two modules may give different results. Modules below a replacement are compared as a part of it. */
static int is_compared(const struct search *search, const struct graft_node *node) {
    return node->original != NULL || (search->other_weights && node->n_parameters > 0 && !node->below_super);
}

static int add_item(struct search *search, const struct graft_node *node, struct graft_error *error) {
    struct graft_tree_comparison *comparison = search->comparison;
    if (graft_grow(&comparison->items, &search->capacity, comparison->count, sizeof *comparison->items) != 0) {
        return graft_fail_memory(error, node->path);
    }
    const struct graft_node *original = graft_node_find(search->original->root, node->path);
    const char *reason = incomparable(search->tree, node, original);
    comparison->items[comparison->count++] = (struct graft_compared_node){
        .node = node,
        .original = original,
        .reason = reason,
        .bytes = graft_node_bytes(node),
        .original_bytes = original != NULL ? graft_node_bytes(original) : 0,
    };
    return GRAFT_OK;
}

/* Modules of a group cannot be compared one by one: what is above all of them goes before the first of them. */
static int add(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    if (!is_compared(search, node)) {
        return GRAFT_OK;
    }
    const struct graft_node *above = graft_group_has(search->tree, node) ? graft_group_above(search->tree, node) : NULL;
    int status = above != NULL && find(search->comparison, above) == NULL ? add_item(search, above, error) : GRAFT_OK;
    return status == GRAFT_OK && find(search->comparison, node) == NULL ? add_item(search, node, error) : status;
}

int graft_tree_comparison_begin(struct graft_tree *tree, struct graft_tree *original, int other_weights, int32_t slots,
                                graft_dtype kv_dtype, struct graft_tree_comparison *comparison,
                                struct graft_error *error) {
    *comparison = (struct graft_tree_comparison){.slots = slots, .kv_dtype = kv_dtype};
    struct search search = {comparison, tree, original, other_weights, 0};
    const struct graft_forward_hooks hooks = {wants, before, after, comparison};
    int status = graft_tree_walk(tree, add, &search, error);
    return status == GRAFT_OK ? graft_forward_hooks_register(tree, &hooks, &comparison->handle, error) : status;
}

static void end_comparison(struct graft_tree_comparison *comparison) {
    graft_forward_hooks_remove(comparison->handle);
    comparison->handle = NULL;
}

void graft_tree_comparison_finish(struct graft_tree_comparison *comparison) {
    end_comparison(comparison);
    for (size_t i = 0; i < comparison->count; i++) {
        graft_cache_destroy(comparison->items[i].cache);
    }
    graft_free(comparison->items);
}
