/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/bytes.h"

#include <string.h>

#include "base/dtype.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/kernels.h"
#include "graft/linear.h"

static int64_t weight_bytes(const struct graft_weight *weight) {
    int64_t bytes = 0;
    for (int32_t i = 0; weight != NULL && i < weight->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(weight, i);
        bytes += block->rows * weight->columns * graft_dtype_size(block->dtype);
    }
    return bytes;
}

static int64_t own_bytes(const struct graft_node *node) {
    int64_t bytes = 0;
    for (size_t i = 0; i < node->n_parameters; i++) {
        bytes += weight_bytes(node->parameters[i]->weight);
    }
    return bytes;
}

int64_t graft_node_bytes(const struct graft_node *node) {
    int64_t bytes = own_bytes(node);
    for (size_t i = 0; i < node->n_children; i++) {
        bytes += graft_node_bytes(node->children[i]);
    }
    return node->super != NULL ? bytes + graft_node_bytes(node->super) : bytes;
}

/* The number of weights of a module, from the sizes that its parent gave: several codes of a quantized weight may share
 * an element, and its scales are counted separately. 0 if the sizes do not tell. */
static int64_t given_weights(const struct graft_node *node) {
    const struct graft_args *args = &node->args;
    if (graft_node_has_interface(node, GRAFT_INTERFACE_LINEAR)) {
        return graft_args_int(args, "in_features", 0) * graft_args_int(args, "out_features", 0);
    }
    if (graft_node_has_interface(node, GRAFT_INTERFACE_EMBEDDING)) {
        return graft_args_int(args, "num_embeddings", 0) * graft_args_int(args, "embedding_dim", 0);
    }
    if (graft_node_has_interface(node, GRAFT_INTERFACE_EXPERTS)) { /* gate, up and down */
        return 3 * graft_args_int(args, "num_experts", 0) * graft_args_int(args, "hidden_size", 0) *
               graft_args_int(args, "intermediate_size", 0);
    }
    return 0;
}

static int is_float(const struct graft_weight *weight) {
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        graft_dtype dtype = graft_weight_block(weight, i)->dtype;
        if (dtype != GRAFT_DTYPE_F32 && dtype != GRAFT_DTYPE_F16 && dtype != GRAFT_DTYPE_BF16) {
            return 0;
        }
    }
    return 1;
}

/* Whether the weight is tied to that of another parameter, which counts it. */
static int is_tied(const struct graft_parameter *parameter) {
    return parameter->tied_to != NULL && parameter->tied_to->weight == parameter->weight;
}

static struct graft_weight_count own_weights(const struct graft_node *node, int with_tied) {
    struct graft_weight_count count = {0};
    int64_t elements = 0, biases = 0;
    int all_floats = 1;
    for (size_t i = 0; i < node->n_parameters; i++) {
        const struct graft_weight *weight = node->parameters[i]->weight;
        if (weight != NULL && (with_tied || !is_tied(node->parameters[i]))) {
            int64_t n = weight->rows * weight->columns;
            all_floats &= is_float(weight);
            elements += n;
            biases += strcmp(node->parameters[i]->own_name, "bias") == 0 ? n : 0;
            count.bytes += weight_bytes(weight);
        }
    }
    int64_t given = all_floats ? 0 : given_weights(node);
    count.weights = given > 0 ? given + biases : elements;
    return count;
}

int64_t graft_node_weights_of(const struct graft_node *node, int64_t bytes) {
    const struct graft_weight_count count = own_weights(node, 1);
    return count.bytes > 0 ? (int64_t)((double)count.weights * (double)bytes / (double)count.bytes + 0.5) : 0;
}

static int add_weights(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_weight_count *sum = data;
    const struct graft_weight_count own = own_weights(node, 0);
    (void)error;
    sum->weights += own.weights;
    sum->bytes += own.bytes;
    return GRAFT_OK;
}

struct graft_weight_count graft_tree_weights(struct graft_tree *tree) {
    struct graft_weight_count count = {0};
    (void)graft_tree_walk(tree, add_weights, &count, NULL);
    return count;
}

/* Whether the number at index `i` occurs there first. */
static int is_new(const int32_t *numbers, int64_t i) {
    for (int64_t j = 0; j < i; j++) {
        if (numbers[j] == numbers[i]) {
            return 0;
        }
    }
    return 1;
}

static int64_t count_distinct(const int32_t *numbers, int64_t n, int64_t limit) {
    int64_t distinct = 0;
    for (int64_t i = 0; i < n && distinct < limit; i++) {
        distinct += is_new(numbers, i);
    }
    return distinct;
}

/* The bytes of the chosen experts in parameters [num_experts, ..]; other parameters count whole. */
static int64_t expert_bytes(const struct graft_node *node, const struct graft_experts_args *args) {
    int64_t bytes = 0;
    int64_t experts = graft_args_int(&node->args, "num_experts", 0);
    int64_t chosen = count_distinct(args->top_k_index, args->tokens * args->k, experts);
    for (size_t i = 0; i < node->n_parameters; i++) {
        const struct graft_parameter *parameter = node->parameters[i];
        int64_t all = weight_bytes(parameter->weight);
        bytes += parameter->rank > 1 && parameter->shape[0] == experts ? all / experts * chosen : all;
    }
    return bytes;
}

static int64_t embedding_bytes(const struct graft_node *node, const struct graft_embedding_args *args) {
    int64_t bytes = 0;
    for (size_t i = 0; i < node->n_parameters; i++) {
        const struct graft_weight *weight = node->parameters[i]->weight;
        if (weight != NULL && weight->rows > 0) {
            bytes += weight_bytes(weight) / weight->rows * count_distinct(args->ids, args->tokens, weight->rows);
        }
    }
    return bytes;
}

/* The bytes of the weight that a Linear multiplies by, which may be one that it made itself, such as with a merged
 * adapter. */
static int64_t linear_bytes(const struct graft_hooked_call *hooked) {
    struct graft_product product = {.struct_size = sizeof product};
    if (!graft_linear_as_product(hooked->module, hooked->args, &product) || product.weight->codec != NULL) {
        return own_bytes(hooked->node); /* a coded weight counts with its scales and zero points */
    }
    return weight_bytes(product.weight) / product.weight->rows * product.rows + weight_bytes(product.bias);
}

int64_t graft_hooked_call_bytes(const struct graft_hooked_call *hooked) {
    const struct graft_node *node = hooked->node;
    return graft_node_has_interface(node, GRAFT_INTERFACE_EXPERTS)     ? expert_bytes(node, hooked->args)
           : graft_node_has_interface(node, GRAFT_INTERFACE_EMBEDDING) ? embedding_bytes(node, hooked->args)
           : graft_node_has_interface(node, GRAFT_INTERFACE_LINEAR)    ? linear_bytes(hooked)
                                                                       : own_bytes(node);
}
