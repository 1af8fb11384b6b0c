/* SPDX-License-Identifier: Apache-2.0 */
/* The Dense module of sentence-transformers: a Linear after pooling, with its own folder in the model directory. */
#ifndef GRAFT_ENCODE_DENSE_H
#define GRAFT_ENCODE_DENSE_H

#include <stdint.h>

#include "graft/error.h"

struct graft_dense {
    int64_t in_features;
    int64_t out_features;
    float *weight; /* [out_features, in_features] */
    float *bias;   /* [out_features], or NULL */
    int32_t tanh;  /* 1: applies tanh; 0: no activation */
};

/* [load] Reads config.json and model.safetensors of a folder; in_features must match. Errors (GRAFT_ERROR_MODEL) name
 * file and field. */
int graft_dense_read(const char *folder, int64_t in_features, struct graft_dense *dense, struct graft_error *error);
void graft_dense_finish(struct graft_dense *dense);

/* [any] Computes out [out_features] from in [in_features]. */
void graft_dense_run(const struct graft_dense *dense, const float *in, float *out);

#endif
