/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the encoder on the source texts of a batch, for the decoder's cross attention. */
#include "arch/decoder/sources.h"

const struct graft_call *graft_source_call(const struct graft_call *call, const struct graft_batch *batch,
                                           struct graft_gathered_call *space, struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(batch);
    if (batch->adapters == NULL || tokens == 0) {
        return call;
    }
    int32_t *adapters = graft_scratch_ints(call, tokens, error);
    if (adapters == NULL) {
        return NULL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        for (int64_t t = batch->source_cu_seqlens[s]; t < batch->source_cu_seqlens[s + 1]; t++) {
            adapters[t] = batch->adapters[s];
        }
    }
    space->row_adapters =
        (struct graft_row_adapters){.struct_size = sizeof space->row_adapters, .rows = tokens, .adapters = adapters};
    graft_struct_copy(&space->call, sizeof space->call, call);
    space->call.row_adapters = &space->row_adapters;
    return &space->call;
}

/* Makes the encoder's batch from the sequences that have a source text. The arrays have room for all sequences. */
static int gather_sources(const struct graft_call *call, const struct graft_batch *all, struct graft_batch *sources,
                          struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(all);
    const int64_t n = all->sequences;
    int64_t *ends = call->scratch_alloc(call->scratch, (n + 1) * (int64_t)sizeof *ends);
    int64_t *positions = call->scratch_alloc(call->scratch, tokens * (int64_t)sizeof *positions);
    int32_t *adapters = call->scratch_alloc(call->scratch, 2 * n * (int64_t)sizeof *adapters);
    if (ends == NULL || positions == NULL || adapters == NULL) {
        return graft_fail_memory(error, "");
    }
    int32_t *slots = adapters + n;
    int32_t count = 0;
    ends[0] = 0;
    for (int64_t s = 0; s < n; s++) {
        const int64_t first = all->source_cu_seqlens[s], end = all->source_cu_seqlens[s + 1];
        for (int64_t t = first; t < end; t++) {
            positions[t] = t - first;
        }
        if (end > first) {
            adapters[count] = all->adapters != NULL ? all->adapters[s] : GRAFT_ADAPTER_ALL;
            slots[count] = count;
            ends[++count] = end;
        }
    }
    *sources = (struct graft_batch){.struct_size = sizeof *sources,
                                    .sequences = count,
                                    .tokens = tokens,
                                    .cu_seqlens = ends,
                                    .positions = positions,
                                    .slots = slots,
                                    .adapters = all->adapters != NULL ? adapters : NULL};
    return GRAFT_OK;
}

int graft_encode_sources(const struct graft_module *encoder, int64_t encoder_size, const struct graft_call *call,
                         const struct graft_batch *given, struct graft_batch *batch, struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(given);
    struct graft_batch sources;
    struct graft_gathered_call space;
    graft_struct_copy(batch, sizeof *batch, given);
    if (tokens == 0) {
        return GRAFT_OK;
    }
    float *states = graft_scratch_floats(call, tokens, encoder_size, error);
    const struct graft_call *own = graft_source_call(call, given, &space, error);
    if (states == NULL || own == NULL || gather_sources(call, given, &sources, error) != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_base_model_args args = {
        .struct_size = sizeof args,
        .batch = &sources,
        .input_ids = given->source_ids,
        .last_hidden_state = states,
    };
    batch->source_states = states;
    return graft_base_model_forward(encoder, own, &args, error);
}
