/* SPDX-License-Identifier: Apache-2.0 */
/* The input of each layer beside hidden states: the model computes it for all layers, and a gate at the end of each
 * layer applies it. */
#ifndef GRAFT_ARCH_DECODER_LAYER_INPUT_H
#define GRAFT_ARCH_DECODER_LAYER_INPUT_H

#include "arch/data/description.h"
#include "graft/class.h"

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

/* [load] Declares the children, if the family has such inputs. */
int graft_layer_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_error *error);

/* [load] Finds the children. */
void graft_layer_inputs_find(struct graft_layer_inputs *self, struct graft_reader *reader,
                             const struct graft_build *build, struct graft_error *error);

/* [forward] Computes *inputs [tokens, layers, size], in scratch memory, from tokens and their embeddings x [tokens,
 * hidden_size]; NULL if layers have no such input. */
int graft_layer_inputs_forward(const struct graft_layer_inputs *self, const struct graft_call *call, int64_t tokens,
                               const int32_t *ids, const float *x, float **inputs, struct graft_error *error);

/* A layer's part. */
struct graft_layer_gate {
    const struct graft_module *gate; /* hidden_size -> size; NULL: the layer has no such input */
    const struct graft_module *act;
    const struct graft_module *output; /* size -> hidden_size */
    const struct graft_module *norm;   /* of hidden_size */
    int64_t size;
    int64_t hidden_size;
};

/* [load] Declare and find the children. `args` are the layer's. */
int graft_layer_gate_describe(struct graft_reader *reader, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
void graft_layer_gate_find(struct graft_layer_gate *self, struct graft_reader *reader, const struct graft_build *build,
                           struct graft_error *error);

/* [forward] y [tokens, hidden_size] = norm(output(act(gate(x)) * input)), with input [tokens, size] in rows of `stride`
 * floats. */
int graft_layer_gate_forward(const struct graft_layer_gate *self, const struct graft_call *call, int64_t tokens,
                             const float *x, const float *input, int64_t stride, float *y, struct graft_error *error);

#endif
