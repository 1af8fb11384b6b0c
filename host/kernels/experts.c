/* SPDX-License-Identifier: Apache-2.0 */
/* graft_experts: checks the arguments and calls the implementation that the call names. */
#include "graft/experts_implementation.h"

#include "base/crash_context.h"
#include "kernels/coded/weight.h"
#include "kernels/table.h"

/* The GRAFT_EXPERTS_... features that the input needs. */
static uint32_t features_of(const struct graft_experts_input *input) {
    return (input->gate_up_bias != NULL || input->down_bias != NULL ? (uint32_t)GRAFT_EXPERTS_BIASES : 0) |
           (input->gating != NULL ? (uint32_t)GRAFT_EXPERTS_GATING : 0) |
           (graft_coded_weight_of(input->gate_up_proj) != NULL || graft_coded_weight_of(input->down_proj) != NULL
                ? (uint32_t)GRAFT_EXPERTS_CODED
                : 0) |
           input->required_features;
}

static int check_input(const struct graft_experts_implementation *chosen, const struct graft_experts_input *input,
                       struct graft_error *error) {
    uint32_t unknown = features_of(input) & ~chosen->features;
    if (unknown != 0) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, input->path,
                              "the experts implementation %s does not support %s (0x%x), which this model needs",
                              chosen->name,
                              (unknown & GRAFT_EXPERTS_BIASES) != 0   ? "biases"
                              : (unknown & GRAFT_EXPERTS_GATING) != 0 ? "a gating function of the class"
                              : (unknown & GRAFT_EXPERTS_CODED) != 0  ? "quantized weights"
                                                                      : "a feature",
                              (unsigned)unknown);
        graft_error_hint(error, "choose another experts implementation");
        return GRAFT_ERROR_PLUGIN;
    }
    for (int64_t i = 0; i < input->tokens * input->k; i++) {
        if (input->top_k_index[i] < 0 || input->top_k_index[i] >= input->num_experts) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, input->path,
                                   "top_k_index: expected 0 to %lld from the router, got %d",
                                   (long long)input->num_experts - 1, (int)input->top_k_index[i]);
        }
    }
    return GRAFT_OK;
}

/* Each expert gets only some tokens, but computes them like the whole forward's batch: its size decides between kernels
 * for few and for many tokens. */
int graft_experts(const struct graft_call *call, const struct graft_experts_implementation *own,
                  const struct graft_experts_input *input, struct graft_error *error) {
    const struct graft_experts_implementation *chosen = call->experts != NULL ? call->experts : own;
    int status = check_input(chosen, input, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_call space;
    const struct graft_call *routed = graft_call_among(call, input->tokens, &space);
    int64_t mark = call->scratch_mark(call->scratch);
    const struct graft_plugin_call task = {"forward", input->path, chosen->name, NULL, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    status = chosen->forward(chosen, routed, input, error);
    graft_crash_context_end(before);
    call->scratch_release(call->scratch, mark);
    return status == GRAFT_OK
               ? GRAFT_OK
               : graft_error_complete(error, status, input->path,
                                      "the experts implementation %s failed with status %d and recorded no error",
                                      chosen->name, status);
}
