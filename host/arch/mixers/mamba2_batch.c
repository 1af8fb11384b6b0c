/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/mamba2_scan.h"
#include "arch/mixers/mixer.h"

struct work {
    const struct graft_mamba2_scan_loops *loops;
    int64_t num_heads;
    struct graft_mamba2_scan *scans; /* [sequences] */
};

/* A parallel body; items are the heads of all sequences. */
static void scan_heads(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_head(&work->scans[i / work->num_heads], i % work->num_heads);
    }
}

void graft_mamba2_scan_batch(const struct graft_mamba2_scan_loops *loops, const struct graft_mamba2_scan *whole,
                             const struct graft_pass *pass, const struct graft_batch *batch,
                             const struct graft_state *states) {
    const int64_t width = whole->num_heads * whole->head_dim;
    const int64_t conv_dim = width + 2 * whole->n_groups * whole->state_size;
    const int64_t effort = batch->tokens / batch->sequences * whole->state_size * whole->head_dim;
    float **own = graft_mixer_states(pass, batch, states);
    struct work work = {
        .loops = loops,
        .num_heads = whole->num_heads,
        .scans = graft_scratch_zeroed(pass->call, batch->sequences * (int64_t)sizeof *work.scans, pass->error),
    };
    if (!graft_pass_ok(pass)) {
        return;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s];
        struct graft_mamba2_scan *scan = &work.scans[s];
        *scan = *whole;
        scan->tokens = batch->cu_seqlens[s + 1] - first;
        scan->dt += first * whole->num_heads;
        scan->xBC += first * conv_dim;
        scan->y += first * width;
        scan->state = own[s];
    }
    pass->call->threads->parallel_for(batch->sequences * whole->num_heads, 1 + GRAFT_MIXER_WORK / (1 + effort),
                                      scan_heads, &work);
}
