/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the plugin whose implementation a chain gets. Used in this folder only. */
#ifndef GRAFT_CHAINS_CHAIN_IMPLEMENTATION_H
#define GRAFT_CHAINS_CHAIN_IMPLEMENTATION_H

#include "chains/chain.h"

/* [load] Fills in the implementation for the chain's classes, if a plugin has one. If two plugins have one and the user
 * gave no order, that is an error. */
int graft_chain_implementation_choose(struct graft_fused_chain *chain, const struct graft_snapshot *snapshot,
                                      struct graft_error *error);

#endif
