/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"

#include "base/crash_context.h"
#include "kernels/cache.h"
#include "kernels/loops.h"
#include "kernels/table.h"
#include "kernels/threads.h"

const struct graft_kernels *graft_kernels_get(void) {
    static const struct graft_kernels kernels = {
        .struct_size = sizeof(struct graft_kernels),
        .linear = graft_linear,
        .attention = graft_attention,
        .experts = graft_experts,
        .rms_norm = graft_rms_norm,
        .rope = graft_rope,
        .activation = graft_activation,
        .gated_activation = graft_gated_activation,
        .add = graft_add,
        .softmax = graft_softmax,
        .top_k = graft_top_k,
        .embedding = graft_embedding,
        .gather_rows = graft_gather_rows,
        .scatter_add_rows = graft_scatter_add_rows,
        .widen = graft_widen,
        .layer_norm = graft_layer_norm,
        .gated_linear = graft_gated_linear,
    };
    return &kernels;
}

/* Every call of a module begins with a mark, while the parent still counts as running, and ends with a release, while
 * the module still does. So when a change of the floating-point environment is seen, the code that made it is still the
 * one recorded as running. */
static int64_t mark(const struct graft_scratch *scratch) {
    graft_crash_context_look();
    return graft_scratch_mark(scratch);
}

static void release(struct graft_scratch *scratch, int64_t to) {
    graft_crash_context_look();
    graft_scratch_release(scratch, to);
}

void graft_call_init(struct graft_call *call, int32_t precision, struct graft_scratch *scratch) {
    *call = (struct graft_call){
        .struct_size = sizeof *call,
        .precision = precision,
        .kernels = graft_kernels_get(),
        .threads = graft_threads_get(),
        .scratch = scratch,
        .scratch_alloc = graft_scratch_alloc,
        .scratch_mark = mark,
        .scratch_release = release,
        .state = graft_cache_state,
    };
}

int graft_kernels_reads(graft_dtype dtype) {
    return graft_reading_of(dtype) != GRAFT_READ_NONE;
}
