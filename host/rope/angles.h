/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ROPE_ANGLES_H
#define GRAFT_ROPE_ANGLES_H

#include "rope/parameters.h"

/* [forward] Implements `angles` of graft/rope.h. */
int graft_rope_angles(const struct graft_rope *rope, const struct graft_call *call, const struct graft_batch *batch,
                      float *cos, float *sin, struct graft_error *error);

#endif
