/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that are one and the same ("lm_head.weight" and "model.embed_tokens.weight"). */
#include <string.h>

#include "base/alloc.h"
#include "model/describe.h"
#include "names/name.h"

static int same_shape(const struct graft_parameter *a, const struct graft_parameter *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* A name below a module, in full. */
static char *full_name(const struct graft_node *node, const char *name) {
    return node->path[0] != '\0' ? graft_format("%s.%s", node->path, name) : graft_strdup(name);
}

/* Keeps that the tensor may be there in the place of `name`; both are taken. */
static int add_tied_name(struct builder *builder, char *name_take, char *tensor_take, int32_t is_own,
                         struct graft_error *error) {
    struct graft_tree *tree = builder->tree;
    if (name_take == NULL || tensor_take == NULL ||
        graft_grow(&tree->tied_names, &tree->tied_names_capacity, tree->n_tied_names, sizeof *tree->tied_names) != 0) {
        graft_free(name_take);
        graft_free(tensor_take);
        return graft_fail_memory(error, "tie");
    }
    tree->tied_names[tree->n_tied_names++] = (struct graft_tied_name){name_take, tensor_take, is_own};
    return GRAFT_OK;
}

/* Whether the module that a name below `node` leads to is elsewhere. */
static int is_elsewhere(struct graft_node *node, const char *name) {
    char path[GRAFT_NAME_BYTES];
    const char *dot = name;
    while ((dot = strchr(dot, '.')) != NULL && (size_t)(dot - name) < sizeof path) {
        memcpy(path, name, (size_t)(dot - name));
        path[dot - name] = '\0';
        const struct graft_node *found = graft_node_find(node, path);
        if (found != NULL && found->is_elsewhere) {
            return 1;
        }
        dot++;
    }
    return 0;
}

/* Of the two names only `other` is a parameter: a conversion may ask for the one that is none, and a parameter whose
 * namesake is elsewhere may be in the checkpoint under that name only. */
static int add_half(struct builder *builder, const struct tie *tie, const char *name,
                    const struct graft_parameter *other, struct graft_error *error) {
    int status = add_tied_name(builder, full_name(tie->node, name), graft_strdup(other->name), 0, error);
    return status == GRAFT_OK && is_elsewhere(tie->node, name)
               ? add_tied_name(builder, graft_strdup(other->name), full_name(tie->node, name), 1, error)
               : status;
}

/* Whether a wrapper of the parameter's module makes it, a Slice perhaps, of a tensor that is another. */
static int is_converted(const struct graft_parameter *parameter) {
    const struct graft_node *node = parameter->node;
    while (node != NULL && node->n_conversions + node->n_shares == 0) {
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
        if (parameter == NULL && source == NULL && is_elsewhere(tie->node, tie->source) &&
            add_tied_name(builder, full_name(tie->node, tie->name), full_name(tie->node, tie->source), 0, error) !=
                GRAFT_OK) {
            return GRAFT_ERROR_INTERNAL;
        }
        if ((parameter == NULL) != (source == NULL)) {
            int status = parameter == NULL ? add_half(builder, tie, tie->name, source, error)
                                           : add_half(builder, tie, tie->source, parameter, error);
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
