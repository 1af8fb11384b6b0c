/* SPDX-License-Identifier: Apache-2.0 */
/* The host's implementation of graft.kernels/1: returns the table, and sets up a forward's call. */
#ifndef GRAFT_KERNELS_KERNELS_H
#define GRAFT_KERNELS_KERNELS_H

#include "graft/batch.h"
#include "graft/call.h"
#include "graft/kernels.h"
#include "kernels/scratch.h"

/* [any] The table; it lives as long as the process. */
const struct graft_kernels *graft_kernels_get(void);

/* [any] Fills `call` with the host's kernels and threads. `scratch` stays the caller's and has to outlive the call. */
void graft_call_init(struct graft_call *call, int32_t precision, struct graft_scratch *scratch);

/* [any] Whether kernels read weights of this type (F32, F16, BF16). Code that binds weights checks this before a
 * forward: linear refuses other types, and functions without a status return NaN for them. */
int graft_kernels_reads(graft_dtype dtype);

#endif
