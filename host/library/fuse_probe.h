/* SPDX-License-Identifier: Apache-2.0 */
/* Trying out chains of fused modules: what the call that fuses them does before they are used. */
#ifndef GRAFT_LIBRARY_FUSE_PROBE_H
#define GRAFT_LIBRARY_FUSE_PROBE_H

#include "library/library.h"

/* [load] Runs two tokens without the chains from number `first` on, puts these in place, and runs the tokens again. An
 * error that names the modules if they do not follow each other, or if a bit of the results differs. Modules that two
 * tokens do not reach (of images, of other experts) are not tried; their calls are checked as they come. */
int graft_chains_try(struct graft_model *model, size_t first, struct graft_error *error);

#endif
