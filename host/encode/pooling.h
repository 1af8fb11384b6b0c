/* SPDX-License-Identifier: Apache-2.0 */
/* From the hidden states of a text to one vector, in the ways that sentence-transformers knows. */
#ifndef GRAFT_ENCODE_POOLING_H
#define GRAFT_ENCODE_POOLING_H

#include <stdint.h>

/* Several may be asked for: their vectors are joined, in this order. */
enum {
    GRAFT_POOLING_CLS = 1,            /* the first token's */
    GRAFT_POOLING_MAX = 2,            /* the largest of each number */
    GRAFT_POOLING_MEAN = 4,           /* the mean */
    GRAFT_POOLING_MEAN_SQRT_LEN = 8,  /* the sum divided by the root of the number of tokens */
    GRAFT_POOLING_WEIGHTED_MEAN = 16, /* the mean with weights 1, 2, 3, ... */
    GRAFT_POOLING_LAST = 32           /* the last token's */
};

struct graft_pooling {
    int32_t modes;     /* GRAFT_POOLING_..., at least one */
    int32_t normalize; /* 1: the vector is divided by its length */
};

/* [any] How many numbers a vector has. */
int64_t graft_pooling_size(const struct graft_pooling *pooling, int64_t hidden_size);

/* [any] vector [graft_pooling_size] of a text's hidden states [tokens, hidden_size], tokens > 0. */
void graft_pooling_run(const struct graft_pooling *pooling, const float *hidden, int64_t tokens, int64_t hidden_size,
                       float *vector);

#endif
