/* SPDX-License-Identifier: Apache-2.0 */
/* sentence-transformers' Dense: a Linear behind the pooling, from files of its own in the model directory. */
#ifndef GRAFT_ENCODE_DENSE_H
#define GRAFT_ENCODE_DENSE_H

#include <stdint.h>

#include "graft/error.h"

struct graft_dense {
    int64_t in_features;
    int64_t out_features;
    float *weight; /* [out_features, in_features] */
    float *bias;   /* [out_features], or NULL */
    int32_t tanh;  /* 1: of each sum; 0: as it is */
};

/* [load] Reads config.json and model.safetensors of a folder, whose in_features must be as said. Errors
 * (GRAFT_ERROR_MODEL) name file and field. */
int graft_dense_read(const char *folder, int64_t in_features, struct graft_dense *dense, struct graft_error *error);
void graft_dense_finish(struct graft_dense *dense);

/* [any] out [out_features] of in [in_features]. */
void graft_dense_run(const struct graft_dense *dense, const float *in, float *out);

#endif
