/* SPDX-License-Identifier: Apache-2.0 */
/* Several hidden states per token, one of which each layer computes, while the others are predicted and corrected
 * (Baykal et al. 2023, Alternating Updates for Efficient Transformers). Arrays of all streams are [streams, tokens,
 * hidden_size]. */
#ifndef GRAFT_ARCH_DECODER_STREAMS_H
#define GRAFT_ARCH_DECODER_STREAMS_H

#include "arch/outline.h"
#include "arch/pass.h"

enum { GRAFT_STREAMS_MAX = 64 };

/* The model's part: the first stream is the embeddings, each other one a product of them. */
struct graft_streams {
    int64_t count; /* 0: a token has a single hidden state */
    int64_t hidden_size;
    const struct graft_module *in[GRAFT_STREAMS_MAX];  /* [count], from 1 on: hidden_size -> hidden_size */
    const struct graft_module *out[GRAFT_STREAMS_MAX]; /* likewise */
};

/* [load] Lays out the children, if the family has streams. */
void graft_streams_outline(struct graft_outline *of, struct graft_streams *self);

/* [forward] All streams of x [tokens, hidden_size], in scratch memory; x itself where there is one alone. */
float *graft_streams_begin(const struct graft_streams *self, const struct graft_pass *pass, float *x);

/* [forward] Combines the streams x into the first one. */
void graft_streams_end(const struct graft_streams *self, const struct graft_pass *pass, float *x);

/* A layer's part. */
struct graft_stream_update {
    int64_t count; /* 0: there are none */
    int64_t active;
    int64_t hidden_size;
    const struct graft_module *prediction; /* count -> count * count */
    const struct graft_module *correction; /* count -> count */
    const struct graft_module *router;     /* hidden_size -> count */
    const struct graft_module *norm;       /* norm of the router's input */
    const struct graft_weight *scale;      /* [hidden_size]: factor of the layer gate's input */
    int32_t is_scaled;                     /* 0: `scale` is not used */
};

/* [load] Lays out the children. */
void graft_stream_update_outline(struct graft_outline *of, struct graft_stream_update *self);

/* [forward] The streams after the layer, as predicted from x; in scratch memory. */
float *graft_stream_update_predict(const struct graft_stream_update *self, const struct graft_pass *pass,
                                   const float *x);

/* [forward] x = the predicted streams, corrected by the layer's result for the active one, `computed` [tokens,
 * hidden_size]. */
void graft_stream_update_correct(const struct graft_stream_update *self, const struct graft_pass *pass,
                                 const float *predicted, float *computed, float *x);

#endif
