/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the outputs of a chain's modules with inputs of the next ones, by name. Used in this folder only. */
#ifndef GRAFT_CHAINS_WIRES_H
#define GRAFT_CHAINS_WIRES_H

#include "chains/chain.h"

/* [load] Connects the modules of a chain by the names in their specs. */
int graft_wires_connect(struct graft_fused_chain *chain, const struct graft_module_spec *specs,
                        struct graft_error *error);

#endif
