/* SPDX-License-Identifier: Apache-2.0 */
/* The rotations of a decoder, by type of layer (graft/rotary.h), for its model and its rotary class. */
#ifndef GRAFT_ARCH_DECODER_ROTARY_H
#define GRAFT_ARCH_DECODER_ROTARY_H

#include "arch/decoder/choices.h"
#include "graft/host.h"
#include "graft/rope.h"

enum { GRAFT_ROTARY_TYPES = 2, GRAFT_ROTARY_OBJECT = 128 };

/* One set of angles. Do not move it: `info` points into it. */
struct graft_rotary_kind {
    int32_t is_used; /* 0: no layer has it */
    uint32_t reserved;
    struct graft_rope_info info;
    int64_t width; /* how many numbers of a head are rotated */
    char object[GRAFT_ROTARY_OBJECT];
};

/* [load] GRAFT_LAYER_FULL_ATTENTION or GRAFT_LAYER_SLIDING_ATTENTION of the reader's layer: which angles it has. Always
 * the first where the family has one set for all layers. */
int32_t graft_rotary_type(struct graft_reader *reader);

/* [load] kinds [GRAFT_ROTARY_TYPES], by type. Errors are the reader's; its layer changes. */
void graft_rotary_kinds(struct graft_reader *reader, const struct graft_host *host, struct graft_rotary_kind *kinds);

#endif
