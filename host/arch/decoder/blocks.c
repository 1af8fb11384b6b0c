/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/blocks.h"

#include <math.h>

/* Fills in the row of the mask for `token` of the sequence [first, end): a number for each of `keys`. */
static void fill_row(const struct graft_batch *batch, const int32_t *blocks, int64_t first, int64_t end, int64_t token,
                     int64_t window, int64_t keys, float *row) {
    const int64_t past = batch->positions[first], at = batch->positions[token];
    for (int64_t j = 0; j < keys; j++) {
        const int64_t other = first + j - past; /* the key's token, if it is in this batch */
        const int together = blocks[token] >= 0 && other >= first && other < end && blocks[other] == blocks[token];
        const int within = window == 0 || j > at - window;
        row[j] = within && (j <= at || together) ? 0.0f : -INFINITY;
    }
}

static int make(const struct graft_call *call, const struct graft_batch *batch, const int32_t *blocks, int64_t window,
                struct graft_mask *mask, struct graft_error *error) {
    int64_t keys = 0;
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s], end = batch->cu_seqlens[s + 1];
        const int64_t own = end > first ? batch->positions[end - 1] + 1 : 0;
        keys = own > keys ? own : keys;
    }
    float *bias = graft_scratch_floats(call, batch->tokens, keys, error);
    if (bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s], end = batch->cu_seqlens[s + 1];
        for (int64_t t = first; t < end; t++) {
            fill_row(batch, blocks, first, end, t, window, keys, bias + t * keys);
        }
    }
    *mask =
        (struct graft_mask){.struct_size = sizeof *mask, .kind = GRAFT_MASK_DENSE, .bias = bias, .bias_stride = keys};
    return GRAFT_OK;
}

const struct graft_mask *graft_block_mask(struct graft_block_masks *masks, const struct graft_call *call,
                                          const struct graft_batch *batch, const struct graft_mask *own,
                                          struct graft_error *error) {
    const int64_t window = own->kind == GRAFT_MASK_SLIDING ? own->window : 0;
    int32_t i = 0;
    if (masks->blocks == NULL) {
        return own;
    }
    while (i < masks->n && masks->windows[i] != window) {
        i++;
    }
    if (i == GRAFT_BLOCK_MASKS || (own->kind != GRAFT_MASK_SLIDING && own->kind != GRAFT_MASK_CAUSAL)) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                              "tokens that see those after them: expected layers that are causal or have at most %d "
                              "windows",
                              GRAFT_BLOCK_MASKS - 1);
        return NULL;
    }
    if (i == masks->n) {
        masks->windows[masks->n++] = window;
        return make(call, batch, masks->blocks, window, &masks->masks[i], error) == GRAFT_OK ? &masks->masks[i] : NULL;
    }
    return &masks->masks[i];
}
