/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPT_NEOX_ROTARY_H
#define GPT_NEOX_ROTARY_H

#include "../parts/parts.h"
#include "graft/rotary.h"

/* graft.rotary/1: the angles for the part of a head that is rotated (parts_read_rotary_dim). */
PARTS_FUNCTIONS(gpt_neox_rotary);

extern const struct graft_rotary gpt_neox_rotary_vtable;

#endif
