/* SPDX-License-Identifier: Apache-2.0 */
/* From the names of inputs and outputs to what is passed on. Private to this folder. */
#ifndef GRAFT_FUSE_WIRES_H
#define GRAFT_FUSE_WIRES_H

#include "fuse/chain.h"

/* [load] Connects the modules of a chain by the names in their specs. */
int graft_wires_connect(struct graft_fused_chain *chain, const struct graft_module_spec *specs,
                        struct graft_error *error);

#endif
