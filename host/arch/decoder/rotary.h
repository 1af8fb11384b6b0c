/* SPDX-License-Identifier: Apache-2.0 */
/* The rotations of a decoder, by type of layer (graft/rotary.h), for its model and its rotary class. */
#ifndef GRAFT_ARCH_DECODER_ROTARY_H
#define GRAFT_ARCH_DECODER_ROTARY_H

#include "arch/decoder/choices.h"
#include "graft/host.h"
#include "graft/rope.h"

/* The maximum number of sets of angles of a family: GRAFT_ROTARY_TYPES if they go by type of layer, GRAFT_ROTARY_KINDS
 * if each layer may have its own. GRAFT_ROTARY_OBJECT is the size of the name of a rope object. */
enum { GRAFT_ROTARY_TYPES = 2, GRAFT_ROTARY_KINDS = 64, GRAFT_ROTARY_OBJECT = 128 };

/* One set of angles. Do not move it: `info` points into it. */
struct graft_rotary_kind {
    int32_t is_used; /* 0: no layer uses it */
    uint32_t reserved;
    struct graft_rope_info info;
    int64_t width; /* how many numbers of a head are rotated */
    char object[GRAFT_ROTARY_OBJECT];
};

/* [load] Fills in kinds [GRAFT_ROTARY_KINDS]: one for all layers; one for each GRAFT_LAYER_...; or the different ones
 * of the layers, in the order in which they first occur. Errors are the reader's; its layer changes. */
void graft_rotary_kinds(struct graft_reader *reader, const struct graft_host *host, struct graft_rotary_kind *kinds);

/* [load] The index of the set that the reader's layer uses. */
int32_t graft_rotary_find(struct graft_reader *reader, const struct graft_rotary_kind *kinds);

/* [load] Whether any layer rotates a sequence of more than `length` tokens differently from one of `length` tokens.
 * Errors are the reader's. */
int graft_rotary_changes(struct graft_reader *reader, const struct graft_host *host, int64_t length);

#endif
