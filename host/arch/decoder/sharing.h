/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers of a decoder attend to keys and values of another one (attention.shared_layers). */
#ifndef GRAFT_ARCH_DECODER_SHARING_H
#define GRAFT_ARCH_DECODER_SHARING_H

#include "arch/data/description.h"
#include "graft/batch.h"
#include "graft/call.h"

struct graft_sharing {
    int32_t
        kv_layer; /* whose keys and values the layer uses: its own, if others do, or an earlier one's; -1: neither */
    int64_t key_size;   /* numbers of a token's keys */
    int64_t value_size; /* and of its values */
};

/* [load] That of the reader's layer, of `layers`. Errors are the reader's, whose layer stays. */
void graft_sharing_read(struct graft_reader *reader, int64_t layers, struct graft_sharing *sharing);

/* [forward] *shared = room for the keys and values of `tokens` tokens that layer number `layer` leaves for others, in
 * scratch memory; nothing happens where it leaves none. */
int graft_sharing_make(const struct graft_sharing *sharing, int64_t layer, const struct graft_call *call,
                       int64_t tokens, struct graft_shared_keys *shared, struct graft_error *error);

#endif
