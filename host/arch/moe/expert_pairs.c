/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/expert_pairs.h"

#include <string.h>

/* first[e + 1] becomes the end of the pairs of expert e. */
static void count_pairs(const struct graft_experts_input *input, int64_t *first) {
    memset(first, 0, (size_t)(input->num_experts + 1) * sizeof *first);
    for (int64_t i = 0; i < input->tokens * input->k; i++) {
        first[input->top_k_index[i] + 1]++;
    }
    for (int64_t e = 0; e < input->num_experts; e++) {
        first[e + 1] += first[e];
    }
}

int graft_expert_pairs_sort(const struct graft_call *call, const struct graft_experts_input *input,
                            struct graft_expert_pairs *pairs, struct graft_error *error) {
    int64_t n = input->tokens * input->k;
    int64_t bytes = (input->num_experts + 1) * (int64_t)sizeof(int64_t);
    int64_t *next = call->scratch_alloc(call->scratch, bytes); /* [num_experts]: where an expert's next pair goes */
    pairs->first = call->scratch_alloc(call->scratch, bytes);
    pairs->token = graft_scratch_ints(call, n, error);
    pairs->weight = graft_scratch_floats(call, n, 1, error);
    if (next == NULL || pairs->first == NULL || pairs->token == NULL || pairs->weight == NULL) {
        return graft_fail_memory(error, input->path);
    }
    count_pairs(input, pairs->first);
    memcpy(next, pairs->first, (size_t)bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = next[input->top_k_index[i]]++;
        pairs->token[place] = (int32_t)(i / input->k);
        pairs->weight[place] = input->top_k_weights[i];
    }
    return GRAFT_OK;
}

struct graft_product graft_expert_product(const struct graft_weight *weight, const struct graft_weight *bias,
                                          int64_t first_row, int64_t rows, int64_t tokens, const float *x, float *y) {
    return (struct graft_product){
        .struct_size = sizeof(struct graft_product),
        .weight = weight,
        .bias = bias,
        .first_row = first_row,
        .rows = rows,
        .x = x,
        .x_stride = weight->columns,
        .tokens = tokens,
        .y = y,
        .y_stride = rows,
    };
}
