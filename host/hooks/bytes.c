/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/bytes.h"

#include <string.h>

#include "base/dtype.h"
#include "graft/embedding.h"
#include "graft/experts.h"

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

/* Whether the number at `i` did not occur before. */
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

/* Of parameters [experts, .., ..] the chosen ones; others are taken to be read whole. */
static int64_t expert_bytes(const struct graft_node *node, const struct graft_experts_args *args) {
    int64_t bytes = 0;
    for (size_t i = 0; i < node->n_parameters; i++) {
        const struct graft_parameter *parameter = node->parameters[i];
        int64_t all = weight_bytes(parameter->weight);
        int64_t experts = parameter->rank == 3 ? parameter->shape[0] : 0;
        bytes += experts > 0 ? all / experts * count_distinct(args->top_k_index, args->tokens * args->k, experts) : all;
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

int64_t graft_hooked_call_bytes(const struct graft_hooked_call *hooked) {
    const char *interface = hooked->node->maker->cls->interface_id;
    if (strcmp(interface, GRAFT_INTERFACE_EXPERTS) == 0) {
        return expert_bytes(hooked->node, hooked->args);
    }
    if (strcmp(interface, GRAFT_INTERFACE_EMBEDDING) == 0) {
        return embedding_bytes(hooked->node, hooked->args);
    }
    return own_bytes(hooked->node);
}
