/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that see each other whatever their order, as those of an image do in some models: a causal mask, opened for
 * blocks of tokens. */
#ifndef GRAFT_ARCH_DECODER_BLOCKS_H
#define GRAFT_ARCH_DECODER_BLOCKS_H

#include "graft/batch.h"
#include "graft/call.h"
#include "graft/kernels.h"

/* The most kinds of masks that a model's layers may have: causal, and windows of different sizes. */
enum { GRAFT_BLOCK_MASKS = 4 };

struct graft_block_masks {
    const int32_t *blocks; /* [tokens]: tokens of the same one see each other; -1: of none; NULL: there are none */
    int32_t n;
    int64_t windows[GRAFT_BLOCK_MASKS]; /* of masks[i]; 0: causal */
    struct graft_mask masks[GRAFT_BLOCK_MASKS];
};

/* [forward] The mask of a layer that has `own`, which must be causal or sliding, for a batch with blocks: a dense one
 * in scratch memory, made once for each window. Without blocks `own`. NULL with `error`. */
const struct graft_mask *graft_block_mask(struct graft_block_masks *masks, const struct graft_call *call,
                                          const struct graft_batch *batch, const struct graft_mask *own,
                                          struct graft_error *error);

#endif
