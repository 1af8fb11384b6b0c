/* SPDX-License-Identifier: Apache-2.0 */
/* "eager": computes one expert after another, in ascending order. */
#include <string.h>

#include "arch/moe/expert_pairs.h"

/* Memory for the tokens of one expert. */
struct buffers {
    float *x;    /* [tokens, hidden_size]: gathered input, then the expert's output */
    float *gate; /* [tokens, intermediate_size] */
    float *up;   /* [tokens, intermediate_size] */
};

/* Replaces x by down(act_fn(gate(x)) * up(x)) of expert `e`. */
static int run_expert(const struct graft_call *call, const struct graft_experts_input *input, int64_t e, int64_t tokens,
                      const struct buffers *buffers, struct graft_error *error) {
    int64_t hidden = input->hidden_size;
    int64_t intermediate = input->intermediate_size;
    const struct graft_product products[] = {
        graft_expert_product(input->gate_up_proj, input->gate_up_bias, 2 * e * intermediate, intermediate, tokens,
                             buffers->x, buffers->gate),
        graft_expert_product(input->gate_up_proj, input->gate_up_bias, (2 * e + 1) * intermediate, intermediate, tokens,
                             buffers->x, buffers->up),
        graft_expert_product(input->down_proj, input->down_bias, e * hidden, hidden, tokens, buffers->gate, buffers->x),
    };
    const struct graft_expert_run run = {products, 1, buffers->gate, buffers->up, tokens};
    return graft_expert_run(call, input, &run, error);
}

static int forward(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error) {
    struct graft_expert_pairs pairs;
    const struct buffers buffers = {
        graft_scratch_floats(call, input->tokens, input->hidden_size, error),
        graft_scratch_floats(call, input->tokens, input->intermediate_size, error),
        graft_scratch_floats(call, input->tokens, input->intermediate_size, error),
    };
    (void)self;
    if (buffers.x == NULL || buffers.gate == NULL || buffers.up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_expert_pairs_sort(call, input, &pairs, error);
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (int64_t e = 0; e < input->num_experts && status == GRAFT_OK; e++) {
        int64_t at = pairs.first[e];
        int64_t tokens = pairs.first[e + 1] - at;
        if (tokens == 0) {
            continue;
        }
        status = call->kernels->gather_rows(call, input->hidden_states, pairs.token + at, tokens, input->hidden_size,
                                            buffers.x, error);
        if (status == GRAFT_OK) {
            status = run_expert(call, input, e, tokens, &buffers, error);
        }
        if (status == GRAFT_OK) {
            status = call->kernels->scatter_add_rows(call, buffers.x, pairs.weight + at, pairs.token + at, tokens,
                                                     input->hidden_size, input->output, error);
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
