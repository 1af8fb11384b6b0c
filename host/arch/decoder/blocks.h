/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of tokens that see each other regardless of their order, such as those of an image in some models: a causal
 * mask with blocks in which every token sees every other. */
#ifndef GRAFT_ARCH_DECODER_BLOCKS_H
#define GRAFT_ARCH_DECODER_BLOCKS_H

#include "graft/batch.h"
#include "graft/call.h"
#include "graft/kernels.h"

/* The maximum number of different masks of a model's layers: causal, and windows of different sizes. */
enum { GRAFT_BLOCK_MASKS = 4 };

struct graft_block_masks {
    const int32_t *blocks; /* [tokens]: number of the block that a token is in; -1: none; NULL: there are no blocks */
    int32_t n;
    int64_t windows[GRAFT_BLOCK_MASKS]; /* window of masks[i]; 0: causal */
    struct graft_mask masks[GRAFT_BLOCK_MASKS];
};

/* [forward] The mask of a layer whose mask without blocks is `own`, causal or sliding: for a batch with blocks a dense
 * mask in scratch memory, made once for each window, else `own`. NULL with an error recorded on failure. */
const struct graft_mask *graft_block_mask(struct graft_block_masks *masks, const struct graft_call *call,
                                          const struct graft_batch *batch, const struct graft_mask *own,
                                          struct graft_error *error);

#endif
