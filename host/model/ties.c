/* SPDX-License-Identifier: Apache-2.0 */
/* Tied parameters, which share a weight ("lm_head.weight" and "model.embed_tokens.weight"). */
#include <string.h>

#include "base/alloc.h"
#include "model/describe.h"
#include "names/name.h"

static int same_shape(const struct graft_parameter *a, const struct graft_parameter *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* The full name of a name below a module. */
static char *full_name(const struct graft_node *node, const char *name) {
    return node->path[0] != '\0' ? graft_format("%s.%s", node->path, name) : graft_strdup(name);
}

/* Records that a checkpoint may have the tensor instead of `name`. Both strings are consumed. */
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

/* Whether the module of a name below `node` is in another process. */
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

/* Handles a tie of which only `other` is a parameter: a conversion may ask for the other name, and if the tied module
 * is in another process, the checkpoint may have only that name. */
static int add_half(struct builder *builder, const struct tie *tie, const char *name,
                    const struct graft_parameter *other, struct graft_error *error) {
    int status = add_tied_name(builder, full_name(tie->node, name), graft_strdup(other->name), 0, error);
    return status == GRAFT_OK && is_elsewhere(tie->node, name)
               ? add_tied_name(builder, graft_strdup(other->name), full_name(tie->node, name), 1, error)
               : status;
}

/* Whether a wrapper of the parameter's module converts the parameter, for example by a Slice, so that it is no longer
 * the tied weight. */
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
        /* a replacement may have other parameters or only parts of them; then nothing is tied, but its sources may be
         * those of the other module */
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
    graft_free(builder->alikes.answers);
}
