/* SPDX-License-Identifier: Apache-2.0 */
/* Several hidden states per token, one of which each layer computes, while the others are predicted and corrected
 * (Baykal et al. 2023, Alternating Updates for Efficient Transformers). Arrays of all streams are [streams, tokens,
 * hidden_size]. */
#ifndef GRAFT_ARCH_DECODER_STREAMS_H
#define GRAFT_ARCH_DECODER_STREAMS_H

#include "arch/data/description.h"
#include "graft/class.h"

enum { GRAFT_STREAMS_MAX = 64 };

/* The model's part: the first stream is the embeddings, each other one a product of them. */
struct graft_streams {
    int64_t count; /* 0: a token has a single hidden state */
    int64_t hidden_size;
    const struct graft_module *in[GRAFT_STREAMS_MAX];  /* [count], from 1 on: hidden_size -> hidden_size */
    const struct graft_module *out[GRAFT_STREAMS_MAX]; /* likewise */
};

/* [load] Declares the children, if the family has streams. */
int graft_streams_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_error *error);

/* [load] Finds the children. */
void graft_streams_find(struct graft_streams *self, struct graft_reader *reader, const struct graft_build *build,
                        struct graft_error *error);

/* [forward] Replaces *x [tokens, hidden_size] by all streams, in scratch memory. */
int graft_streams_begin(const struct graft_streams *self, const struct graft_call *call, int64_t tokens, float **x,
                        struct graft_error *error);

/* [forward] Combines the streams x into the first one. */
int graft_streams_end(const struct graft_streams *self, const struct graft_call *call, int64_t tokens, float *x,
                      struct graft_error *error);

/* A layer's part. */
struct graft_stream_update {
    int64_t count; /* 0: there are none */
    int64_t active;
    int64_t hidden_size;
    const struct graft_module *prediction; /* count -> count * count */
    const struct graft_module *correction; /* count -> count */
    const struct graft_module *router;     /* hidden_size -> count */
    const struct graft_module *norm;       /* norm of the router's input */
    const struct graft_weight *scale;      /* [hidden_size]: factor of the layer gate's input; NULL: none */
};

/* [load] Declare and find the children. `args` are the layer's. */
int graft_stream_update_describe(struct graft_reader *reader, const struct graft_args *args,
                                 const struct graft_sink *sink, struct graft_error *error);
void graft_stream_update_find(struct graft_stream_update *self, struct graft_reader *reader,
                              const struct graft_build *build, struct graft_error *error);

/* [forward] Predicts the streams after the layer from x. */
int graft_stream_update_predict(const struct graft_stream_update *self, const struct graft_call *call, int64_t tokens,
                                const float *x, float *predicted, struct graft_error *error);

/* [forward] x = the predicted streams, corrected by the layer's result for the active one, `computed` [tokens,
 * hidden_size]. */
int graft_stream_update_correct(const struct graft_stream_update *self, const struct graft_call *call, int64_t tokens,
                                const float *predicted, const float *computed, float *x, struct graft_error *error);

#endif
