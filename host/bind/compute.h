/* SPDX-License-Identifier: Apache-2.0 */
/* Runs custom operations. Used in this folder only. */
#ifndef GRAFT_BIND_COMPUTE_H
#define GRAFT_BIND_COMPUTE_H

#include "value/computed.h"

/* [load] Fills the outputs, whose `data` are buffers of their size, by blocks of input rows in parallel. */
int graft_compute(const struct graft_computed *computed, struct graft_error *error);

#endif
