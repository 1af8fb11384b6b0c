/* SPDX-License-Identifier: Apache-2.0 */
/* Where symbolic links of a model directory may lead. */
#ifndef GRAFT_WEIGHTS_SHARD_PLACE_H
#define GRAFT_WEIGHTS_SHARD_PLACE_H

#include "graft/error.h"

/* [load] Checks that `path`, a file in the directory `root` (resolved, without links), is there, and that it is in that
 * directory with all links resolved too, or, when the directory belongs to a hub cache (`.../snapshots/REVISION`), in
 * the `blobs` beside its `snapshots`, where the cache keeps the files that a snapshot links to. Errors are
 * GRAFT_ERROR_MODEL. */
int graft_shard_place_check(const char *root, const char *path, struct graft_error *error);

#endif
