/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the encoder on the source texts of a batch, for the decoder's cross attention. */
#include "graft/parts.h"

/* The source texts of a batch's sequences, as a batch for the encoder. */
struct sources {
    struct graft_batch batch;
    struct graft_row_adapters rows;
    struct graft_call call;
};

/* Makes the encoder's batch of the sequences that have a source text. Arrays have room for all sequences. */
static int gather_sources(const struct graft_call *call, const struct graft_batch *all, struct sources *sources,
                          struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(all);
    const int64_t n = all->sequences;
    int64_t *ends = call->scratch_alloc(call->scratch, (n + 1) * (int64_t)sizeof *ends);
    int64_t *positions = call->scratch_alloc(call->scratch, tokens * (int64_t)sizeof *positions);
    int32_t *adapters = call->scratch_alloc(call->scratch, 2 * (n + tokens) * (int64_t)sizeof *adapters);
    if (ends == NULL || positions == NULL || adapters == NULL) {
        return graft_fail_memory(error, "");
    }
    int32_t *slots = adapters + n + tokens;
    int32_t *of_rows = adapters + n;
    int32_t count = 0;
    ends[0] = 0;
    for (int64_t s = 0; s < n; s++) {
        const int64_t first = all->source_cu_seqlens[s], end = all->source_cu_seqlens[s + 1];
        const int32_t adapter = all->adapters != NULL ? all->adapters[s] : GRAFT_ADAPTER_ALL;
        for (int64_t t = first; t < end; t++) {
            positions[t] = t - first;
            of_rows[t] = adapter;
        }
        if (end > first) {
            adapters[count] = adapter;
            slots[count] = count;
            ends[++count] = end;
        }
    }
    sources->batch = (struct graft_batch){.struct_size = sizeof sources->batch,
                                          .sequences = count,
                                          .tokens = tokens,
                                          .cu_seqlens = ends,
                                          .positions = positions,
                                          .slots = slots,
                                          .adapters = all->adapters != NULL ? adapters : NULL};
    sources->rows =
        (struct graft_row_adapters){.struct_size = sizeof sources->rows, .rows = tokens, .adapters = of_rows};
    graft_struct_copy(&sources->call, sizeof sources->call, call);
    sources->call.row_adapters = all->adapters != NULL ? &sources->rows : call->row_adapters;
    return GRAFT_OK;
}

int graft_parts_encode_sources(const struct graft_module *encoder, int64_t encoder_size, const struct graft_call *call,
                               const struct graft_batch *given, struct graft_batch *batch, struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(given);
    struct sources sources;
    graft_struct_copy(batch, sizeof *batch, given);
    if (tokens == 0) {
        return GRAFT_OK;
    }
    float *states = graft_scratch_floats(call, tokens, encoder_size, error);
    int status = states != NULL ? gather_sources(call, given, &sources, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_base_model_args args = {
        .struct_size = sizeof args,
        .batch = &sources.batch,
        .input_ids = given->source_ids,
        .last_hidden_state = states,
    };
    batch->source_states = states;
    return graft_base_model_forward(encoder, &sources.call, &args, error);
}
