/* SPDX-License-Identifier: Apache-2.0 */
/* From the hidden states of a text to one vector, in the ways that sentence-transformers knows. */
#ifndef GRAFT_ENCODE_POOLING_H
#define GRAFT_ENCODE_POOLING_H

#include <stdint.h>

enum {
    GRAFT_POOLING_CLS,           /* the first token's */
    GRAFT_POOLING_MAX,           /* the largest of each number */
    GRAFT_POOLING_MEAN,          /* the mean */
    GRAFT_POOLING_MEAN_SQRT_LEN, /* the sum divided by the root of the number of tokens */
    GRAFT_POOLING_WEIGHTED_MEAN, /* the mean with weights 1, 2, 3, ... */
    GRAFT_POOLING_LAST,          /* the last token's */
    GRAFT_POOLING_MODES
};

/* Several may be asked for: their vectors are joined, in this order. */
struct graft_pooling {
    int32_t modes[GRAFT_POOLING_MODES]; /* [n_modes]: GRAFT_POOLING_... */
    int32_t n_modes;                    /* at least one */
};

/* [any] How many numbers a vector has. */
int64_t graft_pooling_size(const struct graft_pooling *pooling, int64_t hidden_size);

/* [any] vector [graft_pooling_size] of a text's hidden states [tokens, hidden_size], tokens > 0. */
void graft_pooling_run(const struct graft_pooling *pooling, const float *hidden, int64_t tokens, int64_t hidden_size,
                       float *vector);

/* [any] Divides the vector by its length, as torch.nn.functional.normalize: a length below 1e-12 counts as that. */
void graft_vector_normalize(float *vector, int64_t size);

#endif
