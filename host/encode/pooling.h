/* SPDX-License-Identifier: Apache-2.0 */
/* Pools the hidden states of a text into one vector, as sentence-transformers does. */
#ifndef GRAFT_ENCODE_POOLING_H
#define GRAFT_ENCODE_POOLING_H

#include <stdint.h>

enum {
    GRAFT_POOLING_CLS,           /* first token */
    GRAFT_POOLING_MAX,           /* maximum of each element */
    GRAFT_POOLING_MEAN,          /* the mean */
    GRAFT_POOLING_MEAN_SQRT_LEN, /* sum divided by the square root of the number of tokens */
    GRAFT_POOLING_WEIGHTED_MEAN, /* mean, weighted by 1, 2, 3, ... */
    GRAFT_POOLING_LAST,          /* last token */
    GRAFT_POOLING_MODES
};

/* One or more ways of pooling, whose vectors are concatenated in this order. */
struct graft_pooling {
    int32_t modes[GRAFT_POOLING_MODES]; /* [n_modes]: GRAFT_POOLING_... */
    int32_t n_modes;                    /* at least one */
};

/* [any] The length of the vector. */
int64_t graft_pooling_size(const struct graft_pooling *pooling, int64_t hidden_size);

/* [any] Computes vector [graft_pooling_size] from a text's hidden states [tokens, hidden_size], tokens > 0. */
void graft_pooling_run(const struct graft_pooling *pooling, const float *hidden, int64_t tokens, int64_t hidden_size,
                       float *vector);

/* [any] Divides the vector by its length, or by 1e-12 if that is larger, as torch.nn.functional.normalize does. */
void graft_vector_normalize(float *vector, int64_t size);

#endif
