/* SPDX-License-Identifier: Apache-2.0 */
/* Whether rotary frequencies depend on how long a sequence is. */
#ifndef GRAFT_ROPE_GROWING_H
#define GRAFT_ROPE_GROWING_H

#include "graft/config.h"

/* [any] 1 if any rope type that the config names is one whose frequencies change with the length of a sequence: then a
 * prompt in two pieces gives other results than in one. */
int graft_rope_is_growing(const struct graft_config *config);

#endif
