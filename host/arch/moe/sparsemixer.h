/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_MOE_SPARSEMIXER_H
#define GRAFT_ARCH_MOE_SPARSEMIXER_H

#include "graft/router.h"

/* [forward] The two best experts of each token of args->logits, and their weights (Liu et al. 2023, SparseMixer, as it
 * is without noise): that of the best is a softmax of the logits near it, that of the second one of those near that,
 * without the best. Near is what is less than `2 * jitter` of the larger of both sizes away. */
void graft_sparsemixer(const struct graft_router_args *args, float jitter);

#endif
