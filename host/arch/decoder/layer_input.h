/* SPDX-License-Identifier: Apache-2.0 */
/* What each layer is given of a token beside hidden states: the model makes it for all layers, and a gate at the end of
 * each takes it in. */
#ifndef GRAFT_ARCH_DECODER_LAYER_INPUT_H
#define GRAFT_ARCH_DECODER_LAYER_INPUT_H

#include "arch/data/description.h"
#include "graft/class.h"

/* In the model. */
struct graft_layer_inputs {
    const struct graft_module *embeddings; /* [rows, layers * size]; NULL: layers are given nothing */
    const struct graft_module *projection; /* hidden_size -> layers * size */
    const struct graft_module *norm;       /* of size */
    int64_t hidden_size;
    int64_t layers;
    int64_t size;
    int64_t rows;
};

/* [load] Declares the children; nothing happens where the family has none. */
int graft_layer_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_error *error);

/* [load] Finds them. */
void graft_layer_inputs_find(struct graft_layer_inputs *self, struct graft_reader *reader,
                             const struct graft_build *build, struct graft_error *error);

/* [forward] *inputs [tokens, layers, size], in scratch memory, of tokens and their embeddings x [tokens, hidden_size];
 * NULL where there are none. */
int graft_layer_inputs_forward(const struct graft_layer_inputs *self, const struct graft_call *call, int64_t tokens,
                               const int32_t *ids, const float *x, float **inputs, struct graft_error *error);

/* In a layer. */
struct graft_layer_gate {
    const struct graft_module *gate; /* hidden_size -> size; NULL: the layer is given nothing */
    const struct graft_module *act;
    const struct graft_module *output; /* size -> hidden_size */
    const struct graft_module *norm;   /* of hidden_size */
    int64_t size;
    int64_t hidden_size;
};

/* [load] Likewise. `args` are the layer's. */
int graft_layer_gate_describe(struct graft_reader *reader, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
void graft_layer_gate_find(struct graft_layer_gate *self, struct graft_reader *reader, const struct graft_build *build,
                           struct graft_error *error);

/* [forward] y [tokens, hidden_size] = norm(output(act(gate(x)) * input)), with input [tokens, size] in rows of `stride`
 * floats. */
int graft_layer_gate_forward(const struct graft_layer_gate *self, const struct graft_call *call, int64_t tokens,
                             const float *x, const float *input, int64_t stride, float *y, struct graft_error *error);

#endif
