/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of this plugin share. */
#ifndef TENSOR_PARALLEL_H
#define TENSOR_PARALLEL_H

#include "graft/class.h"
#include "graft/parallel.h"
#include "quantized.h"
#include "scheme.h"

/* [any] The processes. */
const struct graft_parallel *tensor_parallel_ranks(void);

/* [load] How a model's projections are divided: as the user says, as config.json does, or as its type is. The scheme
 * borrows the config. */
int tensor_parallel_scheme(const struct graft_config *config, struct scheme *scheme, struct graft_error *error);

/* [any] Whether another plugin divides the module at `path`, or what it is a part of. */
int tensor_parallel_leaves(const char *path);

/* [load] Says that the class inside takes this rank's share of a parameter: of `dim`, divided into `of` pieces,
 * `length` from number `begin` on. */
struct share {
    int64_t dim;
    int64_t begin;
    int64_t length;
    int64_t of;
    int64_t parts[GRAFT_SLICE_PARTS]; /* of each of which it is a share, in this ratio; all 0: one */
};
int tensor_parallel_slice(const struct graft_sink *sink, const char *parameter, const struct share *share,
                          struct graft_error *error);

/* [load] The same of all tensors of a projection: `prefix` is its name with a dot behind it, or "". Of its outputs (the
 * bias, too) or of its inputs, of which there are `count` over all ranks. */
int tensor_parallel_slice_outputs(const struct graft_sink *sink, const struct quantized *quantized, const char *prefix,
                                  int64_t count, const struct share *share, struct graft_error *error);
int tensor_parallel_slice_inputs(const struct graft_sink *sink, const struct quantized *quantized, const char *prefix,
                                 int64_t count, const struct share *share, struct graft_error *error);

/* Around attentions and MLPs, which compute a share of their heads or of their width. */
extern const struct graft_class tensor_parallel_attention;
extern const struct graft_class tensor_parallel_mlp;

/* Around Linears: those that a scheme names put the shares together. */
extern const struct graft_class tensor_parallel_linear;

#endif
