/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether two checkpoints have the same architecture and sizes, so that the inputs of one's modules fit the
 * other's: compares well-known fields first, then the arguments of all modules. */
#include <stdio.h>
#include <string.h>

#include "library/library.h"

static const char *const sizes[] = {
    "vocab_size",          "hidden_size", "intermediate_size", "num_hidden_layers",   "num_attention_heads",
    "num_key_value_heads", "head_dim",    "num_experts",       "num_experts_per_tok", "moe_intermediate_size",
};

static int differs(const struct graft_model *model, const struct graft_model *other, const char *what, int64_t found,
                   int64_t wanted, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, other->config->file, "%s: expected %lld as in %s, got %lld", what,
                           (long long)wanted, model->directory, (long long)found);
}

static int check_fields(const struct graft_model *model, const struct graft_model *other, struct graft_error *error) {
    const struct graft_config *ours = &model->config->view, *theirs = &other->config->view;
    if (strcmp(model->root_class, other->root_class) != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, theirs->file, "architectures: expected %s as in %s, got %s",
                               model->root_class, model->directory, other->root_class);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t wanted = ours->integer(ours->data, sizes[i]), found = theirs->integer(theirs->data, sizes[i]);
        if (graft_config_has(ours, sizes[i]) && graft_config_has(theirs, sizes[i]) && found != wanted) {
            return differs(model, other, graft_config_spelling(theirs, sizes[i]), found, wanted, error);
        }
    }
    return GRAFT_OK;
}

struct pair {
    const struct graft_model *model;
    const struct graft_model *other;
};

static int is_of_interface(const struct graft_node *node, const char *interface_id) {
    return node != NULL && node->known != NULL && strcmp(node->known->cls->interface_id, interface_id) == 0;
}

static int check_module(void *data, struct graft_node *node, struct graft_error *error) {
    const struct pair *pair = data;
    const struct graft_node *other = graft_node_find(pair->other->tree->root, node->path);
    if (node->known == NULL || !is_of_interface(other, node->known->cls->interface_id)) {
        return GRAFT_OK;
    }
    for (int32_t i = 0; i < node->args.count; i++) {
        const struct graft_arg *wanted = graft_args_at(&node->args, i);
        const struct graft_arg *found = graft_args_find(&other->args, wanted->name, wanted->kind);
        if (wanted->kind == GRAFT_ARG_INT && found != NULL && found->integer != wanted->integer) {
            char what[256];
            (void)snprintf(what, sizeof what, "%.150s: %.80s", node->path, wanted->name);
            return differs(pair->model, pair->other, what, found->integer, wanted->integer, error);
        }
    }
    return GRAFT_OK;
}

int graft_model_check_counterpart(const struct graft_model *model, const struct graft_model *other,
                                  struct graft_error *error) {
    struct pair pair = {model, other};
    int status = check_fields(model, other, error);
    return status == GRAFT_OK ? graft_tree_walk(model->tree, check_module, &pair, error) : status;
}
