/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of distances between tokens, which the attention modules of all layers share (He et al. 2021). Each
 * attention module declares them as its own children, and the model ties the weights of these to its own. */
#ifndef GRAFT_ARCH_DECODER_DISTANCES_H
#define GRAFT_ARCH_DECODER_DISTANCES_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/module.h"

/* The names of these children in an attention module. */
#define GRAFT_DISTANCES "distances"
#define GRAFT_DISTANCES_NORM "distances_norm"

struct graft_distances {
    int64_t rows;    /* number of embeddings; 0: the model has none */
    int64_t reach;   /* greatest distance with a row of its own; larger ones share its row */
    int64_t buckets; /* 0: each distance up to `reach` has a row; else large distances share rows */
    double eps;      /* epsilon of the norm */
    int32_t has_norm;
};

/* [load] Reads the choices `disentangled`. Errors are the reader's. */
struct graft_distances graft_distances_read(struct graft_reader *reader);

/* [load] Declares the children `embedding` and `norm`; errors are latched in `error`. */
void graft_distances_describe(const struct graft_distances *self, const char *embedding, const char *norm,
                              int64_t hidden_size, const struct graft_sink *sink, struct graft_error *error);

/* [load] Ties the weights of the attention module at `path` to the model's. */
void graft_distances_tie(const struct graft_description *description, const struct graft_distances *self,
                         const char *path, const struct graft_sink *sink, struct graft_error *error);

/* [any] The row of a distance: the query's position minus the key's. */
int64_t graft_distances_row(const struct graft_distances *self, int64_t distance);

/* [forward] The embeddings of all distances, [rows, hidden_size], normalised unless `norm` is NULL, in scratch memory;
 * NULL with an error recorded on failure. */
float *graft_distances_find(const struct graft_distances *self, const struct graft_module *embedding,
                            const struct graft_module *norm, const struct graft_call *call, int64_t hidden_size,
                            struct graft_error *error);

#endif
