/* SPDX-License-Identifier: Apache-2.0 */
/* What each pixel of a resized row is made of. Shared by the units of this folder only. */
#ifndef GRAFT_IMAGE_RESIZE_WEIGHTS_H
#define GRAFT_IMAGE_RESIZE_WEIGHTS_H

#include "image/resize.h"

struct resize_weights {
    int64_t outputs;
    int64_t width;    /* the most inputs that an output has */
    int64_t *first;   /* [outputs]: the first input of each */
    int64_t *count;   /* [outputs]: how many there are */
    int32_t *weights; /* [outputs, width]: in units of 2^-bits */
    int32_t bits;
};

/* Returns 0, or -1 if memory ran out; also then to be finished. */
int graft_resize_weights_init(struct resize_weights *weights, int64_t inputs, int64_t outputs,
                              struct graft_resize_method method);
void graft_resize_weights_finish(struct resize_weights *weights);

#endif
