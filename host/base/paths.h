/* SPDX-License-Identifier: Apache-2.0 */
/* Prints long lists of module paths compactly. */
#ifndef GRAFT_BASE_PATHS_H
#define GRAFT_BASE_PATHS_H

#include "base/text.h"

/* Adds `n` different paths. Paths that differ only in numbers are merged: "model.layers.{0-3,7}.mlp, lm_head". The
 * result names exactly these paths; where the numbers at several places do not combine freely, '*' stands for them.
 * After eight groups only the number of remaining paths is added. */
void graft_text_add_paths(struct graft_text *text, const char *const *paths, size_t n);

#endif
