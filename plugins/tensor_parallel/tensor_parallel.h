/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this plugin share. */
#ifndef TENSOR_PARALLEL_H
#define TENSOR_PARALLEL_H

#include "graft/class.h"
#include "graft/parallel.h"
#include "scheme.h"

/* [any] The processes. */
const struct graft_parallel *tensor_parallel_ranks(void);

/* [load] How a model's projections are divided: as the user says, else as config.json says, else as the model type
 * requires. The scheme borrows the config. */
int tensor_parallel_scheme(const struct graft_config *config, struct scheme *scheme, struct graft_error *error);

/* [any] Whether another plugin divides the module at `path`, or a module above it. */
int tensor_parallel_leaves(const char *path);

/* [load] A Slice that selects this rank's part of a dimension that is divided evenly among the ranks. */
struct graft_operation tensor_parallel_share(void);

/* Classes that wrap attentions and MLPs, which then compute a share of their heads or of their width. */
extern const struct graft_class tensor_parallel_attention;
extern const struct graft_class tensor_parallel_mlp;

/* The class that wraps Linears, to combine the shares of all ranks where a scheme says so. */
extern const struct graft_class tensor_parallel_linear;

#endif
