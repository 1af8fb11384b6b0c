/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of conversions through the tree: the result of a conversion of a module is a source for modules below it. */
#include <string.h>

#include "plan/convert.h"

/* Whether a target matches the name, which may have a `*` too. `*index` becomes the number that the target's `*`
 * matches, or -1 if only the name or neither has a `*`. */
static int means(const char *target, const char *name, int64_t *index) {
    const char *star = strchr(target, '*');
    size_t before = star != NULL ? (size_t)(star - target) : 0;
    *index = -1;
    if (strcmp(target, name) == 0) {
        return 1;
    }
    if (star == NULL || strncmp(target, name, before) != 0) {
        return 0;
    }
    size_t digits = strspn(name + before, "0123456789");
    *index = graft_name_index(name + before, digits);
    return *index >= 0 && strcmp(name + before + digits, star + 1) == 0;
}

/* The index of the target of `conversion`, of the class at `node`, whose full name is `name`; -1 if there is none. */
static int32_t find_target(const struct graft_node *node, const struct graft_conversion *conversion, const char *name,
                           int64_t *index) {
    size_t length = strlen(node->path);
    if (strncmp(name, node->path, length) != 0 || (length > 0 && name[length] != '.')) {
        return -1;
    }
    const char *below = length > 0 ? name + length + 1 : name;
    for (int32_t i = 0; i < conversion->n_targets; i++) {
        if (means(conversion->targets[i], below, index)) {
            return i;
        }
    }
    return -1;
}

/* Reduces a list to its element `index`, or empties it. */
static void keep_one(struct graft_value_list *list, int64_t index) {
    struct graft_value kept = {0};
    if (index < (int64_t)list->count) {
        kept = list->items[index];
        list->items[index] = list->items[0];
        list->items[0] = (struct graft_value){0};
    }
    for (size_t i = 0; i < list->count; i++) {
        graft_value_free(&list->items[i]);
    }
    if (list->count > 0) {
        list->items[0] = kept;
        list->count = index < (int64_t)list->count;
    }
}

/* Runs the conversion for one of its targets. Its sources may themselves come from modules further up. */
static int take_target(struct conversion_site *above, int32_t target, int64_t index, struct graft_value_list *list,
                       struct graft_error *error) {
    struct conversion_use use;
    int status = graft_conversion_values(above, &use, error);
    if (status == GRAFT_OK && (size_t)target < use.n_lists) {
        *list = use.lists[target];
        use.lists[target] = (struct graft_value_list){0};
        if (index >= 0) {
            keep_one(list, index);
        }
    }
    graft_conversion_use_finish(&use);
    return status;
}

/* Whether the target is a parameter of the wrapper itself, which the wrapped module does not get. */
static int is_kept(struct graft_node *wrapper, const char *target) {
    char name[GRAFT_NAME_BYTES];
    const struct graft_parameter *parameter =
        graft_name_indexed(target, 0, name) ? graft_node_find_parameter(wrapper, name) : NULL;
    const struct graft_node *owner = parameter != NULL ? parameter->node : NULL;
    while (owner != NULL && owner != wrapper) {
        owner = owner->parent;
    }
    return owner != NULL;
}

/* Whether a renaming applies, which requires that the checkpoint has its source. */
static int can_begin(const struct conversion_site *site, const struct graft_node *node,
                     const struct graft_conversion *conversion) {
    char source[GRAFT_NAME_BYTES];
    const struct graft_conversion *renaming;
    return conversion->n_operations > 0 || (graft_name_below(node->path, conversion->sources[0], source) &&
                                            graft_lookup_find(site->lookup, source, &renaming) != NULL);
}

/* Finds the nearest conversion above that makes `name`; with `in_place` 1, one whose source is the tensor of that name.
 * Returns the index of the target, or -1. */
static int32_t find_above(const struct conversion_site *site, const char *name, int in_place,
                          struct conversion_site *above, int64_t *index) {
    const struct graft_node *from = site->node;
    for (struct graft_node *node = graft_node_above(from); node != NULL; from = node, node = graft_node_above(node)) {
        const struct graft_conversion *conversion;
        for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
            int32_t target = find_target(node, conversion, name, index);
            if (target >= 0 && can_begin(site, node, conversion) &&
                (!in_place || graft_conversion_is_in_place(site->plan, conversion, target)) &&
                !(from == node->super && is_kept(node, conversion->targets[target])) &&
                !graft_lookup_leaves_out(site->lookup, node, conversion)) {
                *above = (struct conversion_site){site->plan, node, conversion, site->lookup, site->config,
                                                  NULL,       0,    0,          NULL};
                return target;
            }
        }
    }
    return -1;
}

/* A conversion of the tensor of that name goes first: the sources of others may be missing. */
int graft_conversion_from_parents(struct conversion_site *site, const char *name, struct graft_value_list *list,
                                  struct graft_error *error) {
    int status = GRAFT_OK;
    for (int in_place = 1; in_place >= 0 && list->count == 0 && status == GRAFT_OK; in_place--) {
        struct conversion_site above;
        int64_t index;
        int32_t target = find_above(site, name, in_place, &above, &index);
        if (target >= 0) {
            status = take_target(&above, target, index, list, error);
            site->n_tied += above.from_tied;
            site->cut_by = above.cut_by != NULL ? above.cut_by : above.node;
            site->listed = site->listed != NULL ? site->listed : above.listed;
        }
    }
    return status;
}

int graft_conversion_is_changed_above(const struct conversion_site *site, const char *name) {
    struct conversion_site above;
    int64_t index;
    return find_above(site, name, 1, &above, &index) >= 0;
}
