/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a class describes all parts of a joined module alike, since config.json may differ between parts. */
#include <string.h>

#include "base/args.h"
#include "base/fail.h"
#include "model/coded.h"
#include "model/join.h"
#include "model/node.h"

/* Whether two descriptions are equal. What a kernel's class keeps is not compared, as it depends on the class that the
 * kernel runs. */
static int is_same(const struct graft_node *a, const struct graft_node *b) {
    int same = a->n_parameters == b->n_parameters && (a->made_by != a->described_by || graft_node_same_kept(a, b));
    same = same && graft_node_same_coded(a, b);
    for (size_t i = 0; same && i < a->n_parameters; i++) {
        same = graft_node_same_parameter(a->parameters[i], b->parameters[i]);
    }
    return same;
}

/* Describes a part into `node`, which is not in the tree. */
static int describe_part(struct builder *builder, struct graft_node *node, const char *config_path,
                         struct graft_error *error) {
    struct graft_node *outer = builder->describing;
    const struct graft_known_class *outer_class = builder->describing_class;
    const struct graft_sink *outer_sink = builder->sink;
    const size_t n_parameters = builder->tree->n_parameters;
    struct graft_sink sink = graft_builder_sink(builder, node, config_path);
    graft_builder_ignore_structure(&sink);
    builder->describing = node;
    builder->describing_class = node->described_by;
    int status = graft_builder_run_describe(builder, node, &sink, error);
    builder->tree->n_parameters = n_parameters;
    builder->describing = outer;
    builder->describing_class = outer_class;
    builder->sink = outer_sink;
    return status;
}

int graft_join_compare_parts(struct builder *builder, struct graft_node *node, const char **other,
                             struct graft_error *error) {
    const struct graft_node_join *join = graft_node_join(node);
    char config_path[GRAFT_NAME_BYTES];
    int status = GRAFT_OK;
    *other = NULL;
    for (size_t i = 1; i < join->joined.n_parts && *other == NULL && status == GRAFT_OK; i++) {
        struct graft_node *part = graft_node_create(builder->tree, node->parent, node->name);
        if (part == NULL || graft_args_append(&part->args, &node->args) != 0) {
            graft_node_free(part);
            return graft_fail_memory(error, node->path);
        }
        part->known = node->known;
        part->original = node->original;
        part->described_by = node->described_by;
        part->made_by = node->made_by;
        part->wrapper = node; /* marks the part as joined */
        graft_join_config_path(node, i, config_path);
        status = describe_part(builder, part, config_path, error);
        *other = status == GRAFT_OK && !is_same(node, part) ? join->names[i] : NULL;
        graft_node_free(part);
    }
    return status;
}
