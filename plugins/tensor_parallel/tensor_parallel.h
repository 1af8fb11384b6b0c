/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of this plugin share. */
#ifndef TENSOR_PARALLEL_H
#define TENSOR_PARALLEL_H

#include "graft/class.h"
#include "graft/parallel.h"
#include "scheme.h"

/* [any] The processes. */
const struct graft_parallel *tensor_parallel_ranks(void);

/* [load] How a model's projections are divided: as the user says, or as its type is. */
int tensor_parallel_scheme(const struct graft_config *config, struct scheme *scheme, struct graft_error *error);

/* [load] Says that the class inside takes this rank's share of a parameter: of `dim`, divided into `of` pieces,
 * `length` from number `begin` on. */
struct share {
    int64_t dim;
    int64_t begin;
    int64_t length;
    int64_t of;
};
int tensor_parallel_slice(const struct graft_sink *sink, const char *parameter, const struct share *share,
                          struct graft_error *error);

/* Around attentions and MLPs, which compute a share of their heads or of their width. */
extern const struct graft_class tensor_parallel_attention;
extern const struct graft_class tensor_parallel_mlp;

/* Around Linears: those that a scheme names put the shares together. */
extern const struct graft_class tensor_parallel_linear;

#endif
