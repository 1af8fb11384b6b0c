/* SPDX-License-Identifier: Apache-2.0 */
/* Biases of scores by the distance between query and key, from a table with a row for each bucket of distances (Raffel
 * et al. 2020, 2.1). The table belongs to the model, to each attention, or to the first layer's attention, to which the
 * others' are tied. */
#ifndef GRAFT_ARCH_DECODER_RELATIVE_H
#define GRAFT_ARCH_DECODER_RELATIVE_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/kernels.h"

/* What `describe` keeps; all 0: there are no biases. */
struct graft_relative {
    int64_t buckets;
    int64_t distance;
    int64_t heads;
};

/* [load] Declares the table of an attention module with `heads` heads; with 0 that of the model, which has the heads of
 * the reader's layer. Does nothing if relative.of says that this module has no table. */
int graft_relative_describe(struct graft_reader *reader, int64_t heads, const struct graft_sink *sink,
                            struct graft_relative *relative, struct graft_error *error);

/* [load] Ties the tables of a model's layers to that of the first, if relative.of is `first`. */
int graft_relative_tie(const struct graft_description *description, int64_t n_layers, const struct graft_sink *sink,
                       struct graft_error *error);

/* [forward] Points mask->relative to biases for all distances up to mask->reach, made from `table` in scratch memory.
 */
int graft_relative_fill(const struct graft_relative *relative, const struct graft_module *table,
                        const struct graft_call *call, struct graft_mask *mask, struct graft_error *error);

#endif
