/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this plugin share. */
#ifndef PIPELINE_PARALLEL_H
#define PIPELINE_PARALLEL_H

#include "graft/class.h"
#include "graft/parallel.h"

/* [any] The processes. */
const struct graft_parallel *pipeline_parallel_ranks(void);

/* [any] The stage of a process, 0 to size - 1: ranks 1, 2, ... are the first stages, rank 0 is the last. */
int32_t pipeline_parallel_stage(const struct graft_parallel *parallel);

/* Classes that wrap modules before or after the layers: embeddings, a vision tower, norms, the head. */
extern const struct graft_class pipeline_parallel_embedding;
extern const struct graft_class pipeline_parallel_norm;
extern const struct graft_class pipeline_parallel_linear;
extern const struct graft_class pipeline_parallel_tower;

#endif
