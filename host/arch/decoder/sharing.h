/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers of a decoder use the keys and values of another layer (attention.shared_layers). */
#ifndef GRAFT_ARCH_DECODER_SHARING_H
#define GRAFT_ARCH_DECODER_SHARING_H

#include "arch/data/description.h"
#include "arch/pass.h"
#include "graft/batch.h"

struct graft_sharing {
    int32_t kv_layer;   /* the layer whose keys and values are used; the layer itself, if later layers use its own; -1:
                           neither */
    int64_t key_size;   /* width of a token's keys */
    int64_t value_size; /* width of a token's values */
};

/* [load] Reads the sharing of the reader's layer, one of `layers`. Errors are the reader's; its layer is unchanged
 * afterwards. */
void graft_sharing_read(struct graft_reader *reader, int64_t layers, struct graft_sharing *sharing);

/* [forward] Allocates *shared for the keys and values that layer `layer` stores for later layers, in
 * scratch memory; does nothing if it stores none. */
void graft_sharing_make(const struct graft_sharing *sharing, int64_t layer, const struct graft_pass *pass,
                        struct graft_shared_keys *shared);

#endif
