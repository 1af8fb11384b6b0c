/* SPDX-License-Identifier: Apache-2.0 */
/* "grouped_mm": performs each step (gather, gate and up, activation, down) for many experts at once, so that there are
 * few parallel loops. Each expert still has a product of its own, with the shape it has when experts run one by one, so
 * the results have the same bits as those of "eager", whose groups are single experts, in ascending order. */
#include <string.h>

#include "arch/moe/expert_pairs.h"

/* How many pairs are computed together, which bounds the memory that a long prompt takes. One expert is never divided.
 */
enum { GROUP_PAIRS = 4096 };

/* How many pairs a group of an implementation may have. */
static int64_t most_of(const struct graft_experts_implementation *self) {
    return self == &graft_experts_eager ? 0 : GROUP_PAIRS;
}

/* Memory for the pairs of one group. */
struct buffers {
    float *x;                       /* [pairs, hidden_size]: gathered input, then the experts' output */
    float *gate;                    /* [pairs, intermediate_size] */
    float *up;                      /* [pairs, intermediate_size] */
    struct graft_product *products; /* [3 * num_experts] */
};

/* The end of the group of experts that begins with expert `begin`. */
static int64_t group_end(const struct graft_experts_input *input, const struct graft_expert_pairs *pairs, int64_t most,
                         int64_t begin) {
    int64_t end = begin + 1;
    while (end < input->num_experts && pairs->first[end + 1] - pairs->first[begin] <= most) {
        end++;
    }
    return end;
}

static int allocate(const struct graft_experts_input *input, const struct graft_call *call,
                    const struct graft_expert_pairs *pairs, int64_t most, struct buffers *buffers,
                    struct graft_error *error) {
    int64_t room = 0; /* number of pairs of the largest group */
    for (int64_t begin = 0, end; begin < input->num_experts; begin = end) {
        end = group_end(input, pairs, most, begin);
        int64_t size = pairs->first[end] - pairs->first[begin];
        room = size > room ? size : room;
    }
    buffers->x = graft_scratch_floats(call, room, input->hidden_size, error);
    buffers->gate = graft_scratch_floats(call, room, input->intermediate_size, error);
    buffers->up = graft_scratch_floats(call, room, input->intermediate_size, error);
    buffers->products = call->scratch_alloc(call->scratch, 3 * input->num_experts * (int64_t)sizeof *buffers->products);
    if (buffers->x == NULL || buffers->gate == NULL || buffers->up == NULL || buffers->products == NULL) {
        return graft_fail_memory(error, input->path);
    }
    return GRAFT_OK;
}

/* Fills in gate, up and down of the experts [begin, end) that have pairs; down writes to `x`. Returns their number. */
static int32_t products_of(const struct graft_experts_input *input, const struct graft_expert_pairs *pairs,
                           int64_t begin, int64_t end, const struct buffers *buffers) {
    const int64_t hidden = input->hidden_size, intermediate = input->intermediate_size;
    struct graft_product *gate_up = buffers->products;
    int32_t n = 0;
    for (int64_t e = begin; e < end; e++) {
        n += pairs->first[e + 1] > pairs->first[e];
    }
    struct graft_product *down = gate_up + 2 * n;
    for (int64_t e = begin; e < end; e++) {
        const int64_t row = pairs->first[e] - pairs->first[begin];
        const int64_t tokens = pairs->first[e + 1] - pairs->first[e];
        float *x = buffers->x + row * hidden;
        float *gate = buffers->gate + row * intermediate, *up = buffers->up + row * intermediate;
        if (tokens > 0) {
            *gate_up++ = graft_product_of(input->gate_up_proj, input->gate_up_bias, 2 * e * intermediate, intermediate,
                                          tokens, x, gate);
            *gate_up++ = graft_product_of(input->gate_up_proj, input->gate_up_bias, (2 * e + 1) * intermediate,
                                          intermediate, tokens, x, up);
            *down++ = graft_product_of(input->down_proj, input->down_bias, e * hidden, hidden, tokens, gate, x);
        }
    }
    return n;
}

/* output += the results of the experts [begin, end), in order. */
static int run_group(const struct graft_experts_input *input, const struct graft_call *call,
                     const struct graft_expert_pairs *pairs, int64_t begin, int64_t end, const struct buffers *buffers,
                     struct graft_error *error) {
    const struct graft_kernels *kernels = call->kernels;
    int64_t first = pairs->first[begin];
    int64_t n = pairs->first[end] - first;
    int status = kernels->gather_rows(call, input->hidden_states, pairs->token + first, n, input->hidden_size,
                                      buffers->x, error);
    const struct graft_expert_run run = {buffers->products, products_of(input, pairs, begin, end, buffers),
                                         buffers->gate, buffers->up, n};
    if (status == GRAFT_OK) {
        status = graft_expert_run(call, input, &run, error);
    }
    return status == GRAFT_OK
               ? graft_expert_pairs_sum(call, pairs, begin, end, buffers->x, input->hidden_size, input->output, error)
               : status;
}

static int forward(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error) {
    struct graft_expert_pairs pairs;
    struct buffers buffers;
    const int64_t most = most_of(self);
    int status = graft_expert_pairs_sort(call, input, &pairs, error);
    if (status == GRAFT_OK) {
        status = allocate(input, call, &pairs, most, &buffers, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (int64_t begin = 0, end; begin < input->num_experts && status == GRAFT_OK; begin = end) {
        end = group_end(input, &pairs, most, begin);
        if (pairs.first[end] > pairs.first[begin]) {
            status = run_group(input, call, &pairs, begin, end, &buffers, error);
        }
    }
    return status;
}

const struct graft_experts_implementation graft_experts_eager = {
    .struct_size = sizeof graft_experts_eager,
    .name = "eager",
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING | GRAFT_EXPERTS_CODED,
    .forward = forward,
};

const struct graft_experts_implementation graft_experts_grouped_mm = {
    .struct_size = sizeof graft_experts_grouped_mm,
    .name = "grouped_mm",
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING | GRAFT_EXPERTS_CODED,
    .forward = forward,
};
