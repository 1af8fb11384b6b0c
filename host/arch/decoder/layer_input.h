/* SPDX-License-Identifier: Apache-2.0 */
/* The input of each layer in addition to hidden states: the model computes it for all layers, and a gate at the end of
 * each layer applies it. */
#ifndef GRAFT_ARCH_DECODER_LAYER_INPUT_H
#define GRAFT_ARCH_DECODER_LAYER_INPUT_H

#include "arch/outline.h"
#include "arch/pass.h"

/* The model's part. */
struct graft_layer_inputs {
    const struct graft_module *embeddings; /* [rows, layers * size]; NULL: layers have no such input */
    const struct graft_module *projection; /* hidden_size -> layers * size */
    const struct graft_module *norm;       /* of size */
    int64_t hidden_size;
    int64_t layers;
    int64_t size;
    int64_t rows;
};

/* [load] Lays out the children, if the family has such inputs. */
void graft_layer_inputs_outline(struct graft_outline *of, struct graft_layer_inputs *self);

/* [forward] The inputs [tokens, layers, size], in scratch memory, of tokens and their embeddings x [tokens,
 * hidden_size]; NULL if layers have no such input. */
float *graft_layer_inputs_forward(const struct graft_layer_inputs *self, const struct graft_pass *pass,
                                  const int32_t *ids, const float *x);

/* A layer's part. */
struct graft_layer_gate {
    const struct graft_module *gate; /* hidden_size -> size; NULL: the layer has no such input */
    const struct graft_module *act;
    const struct graft_module *output; /* size -> hidden_size */
    const struct graft_module *norm;   /* of hidden_size */
    int64_t size;
    int64_t hidden_size;
};

/* [load] Lays out the children. */
void graft_layer_gate_outline(struct graft_outline *of, struct graft_layer_gate *self);

/* [forward] norm(output(act(gate(x)) * input)) of x [tokens, hidden_size], with input [tokens, size] in rows of
 * `stride` floats. */
float *graft_layer_gate_forward(const struct graft_layer_gate *self, const struct graft_pass *pass, const float *x,
                                const float *input, int64_t stride);

#endif
