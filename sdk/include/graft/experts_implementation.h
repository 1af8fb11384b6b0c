/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experts chosen by name (`--experts-implementation`): how stacked experts are computed, without their class being
 * replaced. Classes that hold stacked experts call graft_experts_run.
 *
 * The host has "eager" (a loop over experts), "batched_mm" (a product for each pair of a token and an expert) and
 * "grouped_mm" (pairs sorted by expert, few large steps), the default. A plugin lists more in its descriptor
 * (plugin.h).
 */
#ifndef GRAFT_EXPERTS_IMPLEMENTATION_H
#define GRAFT_EXPERTS_IMPLEMENTATION_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's; valid until the forward returns. */
struct graft_experts_input {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path; /* of the module, for errors */
    int64_t tokens;
    int64_t k; /* experts of a token */
    int64_t num_experts;
    int64_t hidden_size;
    int64_t intermediate_size;
    const float *hidden_states;              /* [tokens, hidden_size] */
    const int32_t *top_k_index;              /* [tokens, k]: each in [0, num_experts), which graft_experts_run checks */
    const float *top_k_weights;              /* [tokens, k] */
    const struct graft_weight *gate_up_proj; /* [num_experts, 2 * intermediate_size, hidden_size]: gate before up */
    const struct graft_weight *down_proj;    /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;       /* of interface graft.activation/1 */
    float *output;                           /* [tokens, hidden_size]; overlaps nothing */
};

/* Const until the plugin's `deinit`. */
struct graft_experts_implementation {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "eager": letters, digits, '_', '-', '.'; no other plugin and not the host may have it */
    /* [forward] output[t] = sum over j of top_k_weights[t, j] * down(act_fn(gate(x[t])) * up(x[t])) of expert
     * top_k_index[t, j], in f32, the experts of a token in ascending order. Required. */
    int (*forward)(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error);
    const void *data; /* the implementation's own */
};

GRAFT_ASSERT_SIZE(struct graft_experts_input, 112);
GRAFT_ASSERT_SIZE(struct graft_experts_implementation, 32);

/* [forward] Runs what was chosen, or `own` when nothing was; scratch memory that it takes is given back. */
static inline int graft_experts_run(const struct graft_call *call, const struct graft_experts_implementation *own,
                                    const struct graft_experts_input *input, struct graft_error *error) {
    const struct graft_experts_implementation *chosen = call->experts != NULL ? call->experts : own;
    for (int64_t i = 0; i < input->tokens * input->k; i++) {
        if (input->top_k_index[i] < 0 || input->top_k_index[i] >= input->num_experts) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, input->path,
                                   "top_k_index: expected 0 to %lld from the router, got %d",
                                   (long long)input->num_experts - 1, (int)input->top_k_index[i]);
        }
    }
    int64_t mark = call->scratch_mark(call->scratch);
    int status = chosen->forward(chosen, call, input, error);
    call->scratch_release(call->scratch, mark);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
