/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of conversions through the tree: what a module above makes is a source for one below. */
#include <string.h>

#include "plan/convert.h"

/* The target of `conversion`, a class's at `node`, that is called `name` in full; -1 for none. */
static int32_t find_target(const struct graft_node *node, const struct graft_conversion *conversion, const char *name) {
    size_t length = strlen(node->path);
    if (strncmp(name, node->path, length) != 0 || (length > 0 && name[length] != '.')) {
        return -1;
    }
    const char *below = length > 0 ? name + length + 1 : name;
    for (int32_t i = 0; i < conversion->n_targets && conversion->n_operations > 0; i++) {
        if (strcmp(conversion->targets[i], below) == 0) {
            return i;
        }
    }
    return -1;
}

/* Runs the conversion for one of its targets. Its sources may come from further above: each step goes up the tree. */
static int take_target(struct conversion_site *above, int32_t target, struct graft_value_list *list,
                       struct graft_error *error) {
    struct conversion_use use;
    int status = graft_conversion_values(above, &use, error);
    if (status == GRAFT_OK && (size_t)target < use.n_lists) {
        *list = use.lists[target];
        use.lists[target] = (struct graft_value_list){0};
    }
    graft_use_finish(&use);
    return status;
}

/* Whether a wrapper makes that for a parameter of its own: then it is nothing to what it calls. */
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

/* Finds the nearest conversion above that makes `name`; its target, -1 for none. */
static int32_t find_above(const struct conversion_site *site, const char *name, struct conversion_site *above) {
    const struct graft_node *from = site->node;
    for (struct graft_node *node = graft_node_above(from); node != NULL; from = node, node = graft_node_above(node)) {
        const struct graft_conversion *conversion;
        for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
            int32_t target = find_target(node, conversion, name);
            if (target >= 0 && !(from == node->super && is_kept(node, conversion->targets[target])) &&
                !graft_lookup_leaves_out(site->lookup, node, conversion)) {
                *above = (struct conversion_site){site->plan, node, conversion, site->lookup, site->config, NULL, 0, 0};
                return target;
            }
        }
    }
    return -1;
}

int graft_conversion_from_parents(struct conversion_site *site, const char *name, struct graft_value_list *list,
                                  struct graft_error *error) {
    struct conversion_site above;
    int32_t target = find_above(site, name, &above);
    if (target < 0) {
        return GRAFT_OK;
    }
    int status = take_target(&above, target, list, error);
    site->n_tied += above.from_tied;
    site->listed = site->listed != NULL ? site->listed : above.listed;
    return status;
}

int graft_conversion_is_changed_above(const struct conversion_site *site, const char *name) {
    struct conversion_site above;
    int32_t target = find_above(site, name, &above);
    return target >= 0 && graft_conversion_is_in_place(site->plan, above.conversion, target);
}
