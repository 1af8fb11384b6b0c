/* SPDX-License-Identifier: Apache-2.0 */
/* Globs of transformers' parallel plans, "layers.*.mlp.up_proj": a `*` stands for one part of a path, and paths may
 * have more parts in front. For the plugins that read such plans. */
#ifndef TENSOR_PARALLEL_GLOB_H
#define TENSOR_PARALLEL_GLOB_H

#include <stddef.h>

/* [any] Whether the first parts of a glob of `length` characters are those of the path, as many as it has: how much of
 * the glob they are; 0: they are not. */
size_t glob_match(const char *glob, size_t length, const char *path);

#endif
