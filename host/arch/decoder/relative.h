/* SPDX-License-Identifier: Apache-2.0 */
/* Biases of scores by the distance between query and key, from a table with a row for each bucket of distances (Raffel
 * et al. 2020, 2.1). The table belongs to the model, to each attention, or to the first layer's attention, to which the
 * others' are tied. */
#ifndef GRAFT_ARCH_DECODER_RELATIVE_H
#define GRAFT_ARCH_DECODER_RELATIVE_H

#include "arch/outline.h"
#include "arch/pass.h"
#include "graft/kernels.h"

struct graft_relative {
    const struct graft_module *table; /* [buckets, heads]; NULL: there are no biases */
    int64_t buckets;
    int64_t distance;
    int64_t heads;
};

/* [load] Lays out the table of an attention module with `heads` heads; with 0, the model's own table, which has as many
 * heads as the reader's layer. Does nothing if relative.of says that this module has no table. */
void graft_relative_outline(struct graft_outline *of, struct graft_relative *self, int64_t heads);

/* [load] Ties the tables of a model's layers to that of the first, if relative.of is `first`. */
int graft_relative_tie(const struct graft_description *description, int64_t n_layers, const struct graft_sink *sink,
                       struct graft_error *error);

/* [forward] Points mask->relative to biases for all distances up to mask->reach, made from the table in scratch memory.
 */
void graft_relative_fill(const struct graft_relative *self, const struct graft_pass *pass, struct graft_mask *mask);

#endif
