/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses for each sequence of a batch: attention over keys and values (keys.c), or over latents (latents.c). */
#include "arch/mla/mla.h"

/* Whether attention over latents takes fewer multiplications for a sequence. New tokens are multiplied by kv_b_proj
 * either way; keys and values also have to be computed for old tokens, but are shorter than latents. The two ways round
 * differently, so the choice must not depend on other sequences. */
static int is_for_latents(const struct graft_mla_sizes *sizes, const struct graft_batch *batch, int32_t sequence) {
    int64_t first = batch->cu_seqlens[sequence];
    double tokens = (double)(batch->cu_seqlens[sequence + 1] - first);
    double old = batch->cache != NULL && tokens > 0.0 ? (double)batch->positions[first] : 0.0;
    double pairs = tokens * (old + tokens); /* number of pairs of a query and a key */
    double made = (double)((sizes->nope + sizes->value) * sizes->rank);
    double longer = (double)(2 * sizes->rank - sizes->nope - sizes->value);
    return old * made >= pairs * longer;
}

/* Sequences [begin, end) of a batch as a batch of their own. */
struct part {
    struct graft_batch batch;
    struct graft_mask mask;
    struct graft_self_attention_args args;
    struct graft_mla_projected projected;
};

static int part_init(struct part *part, const struct graft_mla_sizes *sizes, const struct graft_call *call,
                     const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                     int32_t begin, int32_t end, struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int64_t first = batch->cu_seqlens[begin];
    int64_t *cu_seqlens = call->scratch_alloc(call->scratch, (end - begin + 1) * (int64_t)sizeof *cu_seqlens);
    if (cu_seqlens == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = begin; s <= end; s++) {
        cu_seqlens[s - begin] = batch->cu_seqlens[s] - first;
    }
    part->batch = (struct graft_batch){
        .struct_size = sizeof part->batch,
        .sequences = end - begin,
        .tokens = cu_seqlens[end - begin],
        .cu_seqlens = cu_seqlens,
        .positions = batch->positions + first,
        .slots = batch->cache != NULL ? batch->slots + begin : NULL,
        .cache = batch->cache,
    };
    graft_struct_copy(&part->mask, sizeof part->mask, args->mask);
    part->mask.bias = args->mask->kind == GRAFT_MASK_DENSE ? args->mask->bias + first * args->mask->bias_stride : NULL;
    part->args = (struct graft_self_attention_args){
        .struct_size = sizeof part->args, .batch = &part->batch, .mask = &part->mask};
    part->projected = *projected;
    part->projected.q += first * sizes->heads * (sizes->nope + sizes->rope);
    part->projected.kept += first * (sizes->rank + sizes->rope);
    return GRAFT_OK;
}

/* Consecutive sequences for which the same way is better are computed together. */
int graft_mla_attend(struct graft_mla *self, const struct graft_call *call,
                     const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                     float *context, struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    const struct graft_batch *batch = args->batch;
    int status = GRAFT_OK;
    for (int32_t begin = 0, end; begin < batch->sequences && status == GRAFT_OK; begin = end) {
        int for_latents = is_for_latents(sizes, batch, begin);
        struct part part;
        for (end = begin + 1; end < batch->sequences && is_for_latents(sizes, batch, end) == for_latents;) {
            end++;
        }
        int64_t mark = call->scratch_mark(call->scratch);
        float *to = context + batch->cu_seqlens[begin] * sizes->heads * sizes->value;
        status = part_init(&part, sizes, call, args, projected, begin, end, error);
        if (status == GRAFT_OK) {
            status = for_latents ? graft_mla_attend_to_latents(self, call, &part.args, &part.projected, to, error)
                                 : graft_mla_attend_to_keys(self, call, &part.args, &part.projected, to, error);
        }
        call->scratch_release(call->scratch, mark);
    }
    return status;
}
