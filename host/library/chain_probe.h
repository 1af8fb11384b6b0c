/* SPDX-License-Identifier: Apache-2.0 */
/* Tries chains of fused modules before they are used. */
#ifndef GRAFT_LIBRARY_CHAIN_PROBE_H
#define GRAFT_LIBRARY_CHAIN_PROBE_H

#include "library/library.h"

/* [load] Runs two tokens without the chains from number `first` on, puts these in place, and runs the tokens again. If
 * the modules do not run one after another, or a bit of the results differs, the error names the modules. Modules that
 * two tokens do not reach (those for images, other experts) are not tried; their calls are checked at run time. */
int graft_chains_try(struct graft_model *model, size_t first, struct graft_error *error);

#endif
