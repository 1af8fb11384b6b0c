/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of the inputs of each pixel of a resized row. Used in this folder only. */
#ifndef GRAFT_IMAGE_RESIZE_WEIGHTS_H
#define GRAFT_IMAGE_RESIZE_WEIGHTS_H

#include "image/resize.h"

struct resize_weights {
    int64_t outputs;
    int64_t width;    /* the most inputs that an output has */
    int64_t *first;   /* [outputs]: the first input of each */
    int64_t *count;   /* [outputs]: the number of inputs of each */
    int32_t *weights; /* [outputs, width]: in units of 2^-bits */
    int32_t bits;
};

/* Returns 0, or -1 if memory ran out. The caller finishes the weights in both cases. */
int graft_resize_weights_init(struct resize_weights *weights, int64_t inputs, int64_t outputs,
                              struct graft_resize_method method);
void graft_resize_weights_finish(struct resize_weights *weights);

#endif
