/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_MOE_SPARSEMIXER_H
#define GRAFT_ARCH_MOE_SPARSEMIXER_H

#include "graft/router.h"

/* [forward] Chooses the two best experts of each token from args->logits, and computes their weights (Liu et al. 2023,
 * SparseMixer, without noise): for the best expert a softmax over the logits near its own; for the second one the same
 * without the best. A logit is near if the difference, relative to the larger magnitude, is less than 2 * jitter. */
void graft_sparsemixer(const struct graft_router_args *args, float jitter);

#endif
