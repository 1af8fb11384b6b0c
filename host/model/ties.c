/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that are one and the same ("lm_head.weight" and "model.embed_tokens.weight"). */
#include <string.h>

#include "base/alloc.h"
#include "model/describe.h"

static int same_shape(const struct graft_parameter *a, const struct graft_parameter *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* Keeps that `name`, below the tie's module, stands for the parameter: a conversion may ask for it. */
static int add_tied_name(struct builder *builder, const struct tie *tie, const char *name,
                         const struct graft_parameter *parameter, struct graft_error *error) {
    struct graft_tree *tree = builder->tree;
    if (graft_grow(&tree->tied_names, &tree->tied_names_capacity, tree->n_tied_names, sizeof *tree->tied_names) != 0) {
        return graft_fail_memory(error, name);
    }
    const char *path = tie->node->path;
    char *full = path[0] != '\0' ? graft_format("%s.%s", path, name) : graft_strdup(name);
    if (full == NULL) {
        return graft_fail_memory(error, name);
    }
    tree->tied_names[tree->n_tied_names++] = (struct graft_tied_name){full, parameter};
    return GRAFT_OK;
}

/* Whether a wrapper of the parameter's module makes it, a Slice perhaps, of a tensor that is another. */
static int is_converted(const struct graft_parameter *parameter) {
    const struct graft_node *node = parameter->node;
    while (node != NULL && node->n_conversions == 0) {
        node = node->wrapper;
    }
    return node != NULL;
}

int graft_builder_resolve_ties(struct builder *builder, struct graft_error *error) {
    for (size_t i = 0; i < builder->n_ties; i++) {
        const struct tie *tie = &builder->ties[i];
        struct graft_parameter *parameter = graft_node_find_parameter(tie->node, tie->name);
        struct graft_parameter *source = graft_node_find_parameter(tie->node, tie->source);
        /* A replaced class may keep its weights under other names, or a part of them: then there is nothing to tie, but
         * what it is made of may be the other's. */
        if (parameter != NULL && source != NULL && is_converted(parameter) && !same_shape(parameter, source)) {
            parameter = NULL;
        }
        if ((parameter == NULL) != (source == NULL)) {
            int status = parameter == NULL ? add_tied_name(builder, tie, tie->name, source, error)
                                           : add_tied_name(builder, tie, tie->source, parameter, error);
            if (status != GRAFT_OK) {
                return status;
            }
        }
        if (parameter == NULL || source == NULL || parameter == source) {
            continue;
        }
        if (!same_shape(parameter, source)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, parameter->name, "tied to %s, which has another shape",
                                   source->name);
        }
        parameter->tied_to = source;
    }
    return GRAFT_OK;
}

void graft_builder_finish(struct builder *builder) {
    for (size_t i = 0; i < builder->n_ties; i++) {
        graft_free(builder->ties[i].name);
        graft_free(builder->ties[i].source);
    }
    graft_free(builder->ties);
}
