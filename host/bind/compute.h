/* SPDX-License-Identifier: Apache-2.0 */
/* Running custom operations. Shared by the units of this folder only. */
#ifndef GRAFT_BIND_COMPUTE_H
#define GRAFT_BIND_COMPUTE_H

#include "value/computed.h"

/* [load] Fills the outputs, whose `data` are buffers of their size, rows of inputs at a time and in parallel. */
int graft_compute(const struct graft_computed *computed, struct graft_error *error);

#endif
