/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether rotary frequencies depend on the length of a sequence. */
#ifndef GRAFT_ROPE_GROWING_H
#define GRAFT_ROPE_GROWING_H

#include "graft/config.h"

/* [any] 1 if the config names a rope type whose frequencies change with the length of a sequence. A prompt in two
 * pieces then has other results than in one. */
int graft_rope_is_growing(const struct graft_config *config);

#endif
