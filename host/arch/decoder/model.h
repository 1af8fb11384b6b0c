/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder without its head, in parts: model.c describes it, model_forward.c runs it. */
#ifndef GRAFT_ARCH_DECODER_MODEL_H
#define GRAFT_ARCH_DECODER_MODEL_H

#include "arch/decoder/distances.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/layer_input.h"
#include "arch/decoder/relative.h"
#include "arch/decoder/rotary.h"
#include "arch/decoder/sharing.h"
#include "arch/decoder/streams.h"
#include "arch/decoder/transform.h"

struct graft_model_layer {
    const struct graft_module *module;
    struct graft_mask mask;
    int32_t type;        /* index of the layer's rotary kind */
    int32_t uses_rotary; /* 0: queries and keys are not rotated */
    struct graft_sharing sharing;
};

struct graft_decoder_model {
    struct graft_instance base;
    struct graft_inputs inputs;
    const struct graft_module *rotary_emb; /* may be NULL, like all below */
    const struct graft_module *norm;
    const struct graft_module *project_out; /* hidden_size -> output_size */
    struct graft_transform pooler;          /* tanh of a Linear, for the first token of each sequence */
    int64_t hidden_size;
    int64_t output_size;                       /* width of the output: hidden_size if there is no projection */
    int32_t bidirectional;                     /* 1: a token sees those after it, too */
    int32_t n_rotary_kinds;                    /* 1 or more */
    int64_t rotary_widths[GRAFT_ROTARY_KINDS]; /* [n_rotary_kinds]; 0: no layer uses it */
    int32_t typed_rotary;
    struct graft_relative relative;   /* biases by distance for all layers */
    struct graft_distances distances; /* embeddings that the layers' attention is tied to */
    struct graft_layer_inputs layer_inputs;
    struct graft_streams streams;
    int32_t shares_keys; /* 1: layers use keys and values of other layers */
    int64_t n_layers;
    int64_t n_stored;                  /* n_layers, or fewer, if each of them runs several times */
    struct graft_model_layer layers[]; /* [n_layers] */
};

#endif
