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
    int64_t *next = call->scratch_alloc(call->scratch, bytes); /* [num_experts]: index of each expert's next pair */
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

int graft_expert_pairs_sum(const struct graft_call *call, const struct graft_expert_pairs *pairs, int64_t begin,
                           int64_t end, const float *x, int64_t hidden, float *output, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t e = begin; e < end && status == GRAFT_OK; e++) {
        const int64_t at = pairs->first[e], n = pairs->first[e + 1] - at;
        status = n > 0
                     ? call->kernels->scatter_add_rows(call, x + (at - pairs->first[begin]) * hidden,
                                                       pairs->weight + at, pairs->token + at, n, hidden, output, error)
                     : GRAFT_OK;
    }
    return status;
}

static int run_gated(const struct graft_call *call, const struct graft_expert_run *run, int32_t activation,
                     struct graft_error *error) {
    struct graft_gated_products *mlps = call->scratch_alloc(call->scratch, run->n * (int64_t)sizeof *mlps);
    for (int32_t i = 0; i < run->n && mlps != NULL; i++) {
        mlps[i] = (struct graft_gated_products){sizeof mlps[i], activation, &run->products[2 * i],
                                                &run->products[2 * i + 1], &run->products[2 * run->n + i]};
    }
    return mlps != NULL ? call->kernels->gated_linear(call, mlps, run->n, sizeof *mlps, error)
                        : graft_fail_memory(error, "");
}

int graft_expert_run(const struct graft_call *call, const struct graft_experts_input *input,
                     const struct graft_expert_run *run, struct graft_error *error) {
    const int32_t activation = input->gating == NULL ? graft_activation_as_kernel(input->act_fn) : -1;
    const uint32_t size = sizeof *run->products;
    if (activation >= 0) {
        return run_gated(call, run, activation, error);
    }
    int status = call->kernels->linear(call, run->products, 2 * run->n, size, error);
    status = status == GRAFT_OK ? graft_experts_gate(input, call, run->gate, run->up, run->pairs, error) : status;
    return status == GRAFT_OK ? call->kernels->linear(call, run->products + 2 * run->n, run->n, size, error) : status;
}
