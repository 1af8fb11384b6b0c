/* SPDX-License-Identifier: Apache-2.0 */
/* Names that old checkpoints use, whatever the model: LayerNorm's gamma and beta, weight norm's g and v. */
#ifndef GRAFT_NAMES_LEGACY_H
#define GRAFT_NAMES_LEGACY_H

#include "graft/host/registry.h"

/* [any] The list that is appended to every model's own list; static. */
const struct graft_weight_transform *graft_legacy_transforms(size_t *n);

#endif
