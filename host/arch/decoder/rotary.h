/* SPDX-License-Identifier: Apache-2.0 */
/* The rotations of a decoder, by type of layer (graft/rotary.h), for its model and its rotary class. */
#ifndef GRAFT_ARCH_DECODER_ROTARY_H
#define GRAFT_ARCH_DECODER_ROTARY_H

#include "arch/decoder/choices.h"
#include "graft/host.h"
#include "graft/rope.h"

/* Of a family with angles by type of layer GRAFT_ROTARY_TYPES sets at most, of one with angles by layer more. */
enum { GRAFT_ROTARY_TYPES = 2, GRAFT_ROTARY_KINDS = 64, GRAFT_ROTARY_OBJECT = 128 };

/* One set of angles. Do not move it: `info` points into it. */
struct graft_rotary_kind {
    int32_t is_used; /* 0: no layer has it */
    uint32_t reserved;
    struct graft_rope_info info;
    int64_t width; /* how many numbers of a head are rotated */
    char object[GRAFT_ROTARY_OBJECT];
};

/* [load] kinds [GRAFT_ROTARY_KINDS]: the only one; by GRAFT_LAYER_...; or those of layers, in their order. Errors are
 * the reader's; its layer changes. */
void graft_rotary_kinds(struct graft_reader *reader, const struct graft_host *host, struct graft_rotary_kind *kinds);

/* [load] Which of them the reader's layer has. */
int32_t graft_rotary_find(struct graft_reader *reader, const struct graft_rotary_kind *kinds);

/* [load] Whether a sequence of more than `length` tokens is rotated otherwise than one of as many, in any layer. Errors
 * are the reader's. */
int graft_rotary_changes(struct graft_reader *reader, const struct graft_host *host, int64_t length);

#endif
