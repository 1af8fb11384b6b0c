/* SPDX-License-Identifier: Apache-2.0 */
#include "model/alike_check.h"

#include <string.h>

#include "model/alike.h"
#include "model/node.h"

static int checking;

void graft_alike_check(int is_on) {
    checking = is_on;
}

int graft_alike_check_is_on(void) {
    return checking;
}

/* What two descriptions differ in: "child", with its name; "" if they are equal. */
struct difference {
    const char *kind;
    const char *name;
};

static struct difference compare_children(const struct graft_node *a, const struct graft_node *b) {
    for (size_t i = 0; i < a->n_children || i < b->n_children; i++) {
        const struct graft_node *x = i < a->n_children ? a->children[i] : NULL;
        const struct graft_node *y = i < b->n_children ? b->children[i] : NULL;
        if (x == NULL || y == NULL || strcmp(x->name, y->name) != 0 || x->known != y->known ||
            !graft_alike_same_args(&x->args, &y->args)) {
            return (struct difference){"child ", x != NULL ? x->name : y->name};
        }
    }
    return (struct difference){"", ""};
}

static struct difference compare_parameters(const struct graft_node *a, const struct graft_node *b) {
    for (size_t i = 0; i < a->n_parameters || i < b->n_parameters; i++) {
        const struct graft_parameter *x = i < a->n_parameters ? a->parameters[i] : NULL;
        const struct graft_parameter *y = i < b->n_parameters ? b->parameters[i] : NULL;
        if (x == NULL || y == NULL || !graft_node_same_parameter(x, y)) {
            return (struct difference){"parameter ", x != NULL ? x->own_name : y->own_name};
        }
    }
    return (struct difference){"", ""};
}

static struct difference compare_attributes(const struct graft_node *a, const struct graft_node *b) {
    for (size_t i = 0; i < a->n_attributes || i < b->n_attributes; i++) {
        const struct graft_attribute *x = i < a->n_attributes ? &a->attributes[i] : NULL;
        const struct graft_attribute *y = i < b->n_attributes ? &b->attributes[i] : NULL;
        if (x == NULL || y == NULL || strcmp(x->name, y->name) != 0 || x->count != y->count ||
            memcmp(x->values, y->values, (size_t)x->count * sizeof x->values[0]) != 0) {
            return (struct difference){"attribute ", x != NULL ? x->name : y->name};
        }
    }
    return (struct difference){"", ""};
}

static struct difference compare_kept(const struct graft_node *a, const struct graft_node *b) {
    return (struct difference){graft_node_same_kept(a, b) ? "" : "what it keeps", ""};
}

int graft_alike_compare(const struct graft_node *node, const struct graft_node *like, struct graft_error *error) {
    struct difference (*const comparisons[])(const struct graft_node *, const struct graft_node *) = {
        compare_children, compare_parameters, compare_attributes, compare_kept};
    struct difference found = {"", ""};
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0] && found.kind[0] == '\0'; i++) {
        found = comparisons[i](node, like);
    }
    return found.kind[0] == '\0'
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path,
                                 "%s says that it is the same anywhere (GRAFT_CLASS_SAME_ANYWHERE), but %s%s is not "
                                 "as for %s, which was given the same arguments",
                                 node->described_by->cls->name, found.kind, found.name, like->path);
}
