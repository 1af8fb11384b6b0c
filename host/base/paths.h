/* SPDX-License-Identifier: Apache-2.0 */
/* Many paths of modules in few words. */
#ifndef GRAFT_BASE_PATHS_H
#define GRAFT_BASE_PATHS_H

#include "base/text.h"

/* Adds `n` different paths, those together that differ in numbers only: "model.layers.{0-3,7}.mlp, lm_head". What is
 * named is exactly what there is; where the numbers of several places do not combine freely, '*' stands for them. After
 * eight of these only the number of the paths left is told. */
void graft_text_add_paths(struct graft_text *text, const char *const *paths, size_t n);

#endif
