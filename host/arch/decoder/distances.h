/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings of distances between tokens, which the attentions of all layers have in common (He et al. 2021). Each
 * describes them as children of its own; the model ties these to its. */
#ifndef GRAFT_ARCH_DECODER_DISTANCES_H
#define GRAFT_ARCH_DECODER_DISTANCES_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/module.h"

/* What an attention calls them. */
#define GRAFT_DISTANCES "distances"
#define GRAFT_DISTANCES_NORM "distances_norm"

struct graft_distances {
    int64_t rows;    /* 0: the model has none */
    int64_t reach;   /* the largest distance that differs from the next */
    int64_t buckets; /* 0: distances up to reach have a row each; else far ones share rows */
    double eps;      /* of the norm */
    int32_t has_norm;
};

/* [load] Errors are the reader's. */
struct graft_distances graft_distances_read(struct graft_reader *reader);

/* [load] Declares the children; errors stay in `error`. */
void graft_distances_describe(const struct graft_distances *self, const char *embedding, const char *norm,
                              int64_t hidden_size, const struct graft_sink *sink, struct graft_error *error);

/* [load] Declares the model's, and ties those of the attention at `path` to them. */
void graft_distances_tie(const struct graft_description *description, const struct graft_distances *self,
                         const char *path, const struct graft_sink *sink, struct graft_error *error);

/* [any] The row of a query's position less a key's. */
int64_t graft_distances_row(const struct graft_distances *self, int64_t distance);

/* [forward] [rows, hidden_size], normed, in scratch memory; NULL with `error`. `norm` may be NULL. */
float *graft_distances_find(const struct graft_distances *self, const struct graft_module *embedding,
                            const struct graft_module *norm, const struct graft_call *call, int64_t hidden_size,
                            struct graft_error *error);

#endif
