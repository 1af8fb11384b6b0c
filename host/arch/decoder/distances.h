/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of distances between tokens, which the attention modules of all layers share (He et al. 2021). Each
 * attention module declares them as its own children, and the model ties the weights of these to its own. */
#ifndef GRAFT_ARCH_DECODER_DISTANCES_H
#define GRAFT_ARCH_DECODER_DISTANCES_H

#include "arch/outline.h"
#include "arch/pass.h"

/* The names of these children in an attention module. */
#define GRAFT_DISTANCES "distances"
#define GRAFT_DISTANCES_NORM "distances_norm"

struct graft_distances {
    const struct graft_module *embeddings; /* [rows, hidden_size]; NULL: the model has none */
    const struct graft_module *norm;       /* NULL: none */
    int64_t rows;                          /* 0: the model has none */
    int64_t reach;                         /* greatest distance with a row of its own; larger ones share its row */
    int64_t buckets; /* 0: each distance up to `reach` has a row; else large distances share rows */
    int32_t has_norm;
};

/* [load] Reads the choices `disentangled`, and lays out the children `embeddings` and `norm` where there are any. */
void graft_distances_outline(struct graft_outline *of, struct graft_distances *self, const char *embeddings,
                             const char *norm, int64_t hidden_size);

/* [load] Ties the weights of the attention module at `path` to the model's. */
void graft_distances_tie(const struct graft_description *description, const struct graft_distances *self,
                         const char *path, const struct graft_sink *sink, struct graft_error *error);

/* [any] The row of a distance: the query's position minus the key's. */
int64_t graft_distances_row(const struct graft_distances *self, int64_t distance);

/* [forward] The embeddings of all distances, [rows, hidden_size], normalised if there is a norm. */
float *graft_distances_find(const struct graft_distances *self, const struct graft_pass *pass, int64_t hidden_size);

#endif
