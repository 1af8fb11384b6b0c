/* SPDX-License-Identifier: Apache-2.0 */
/* Which plugin's implementation a chain gets. Private to this folder. */
#ifndef GRAFT_FUSE_CHAIN_IMPLEMENTATION_H
#define GRAFT_FUSE_CHAIN_IMPLEMENTATION_H

#include "fuse/chain.h"

/* [load] Fills in the implementation for the chain's classes, if a plugin has one. Two plugins that have one are an
 * error, unless they were put in order. */
int graft_chain_implementation_choose(struct graft_fused_chain *chain, const struct graft_snapshot *snapshot,
                                      struct graft_error *error);

#endif
