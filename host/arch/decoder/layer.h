/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of a decoder: attention or a mixer, or both in parallel, and an MLP, dense or with experts, with residuals
 * and with those norms that the family has. */
#ifndef GRAFT_ARCH_DECODER_LAYER_H
#define GRAFT_ARCH_DECODER_LAYER_H

#include "arch/outline.h"
#include "arch/pass.h"
#include "graft/decoder_layer.h"

struct graft_layer {
    const struct graft_module *attention; /* NULL if there is none, as for all modules below */
    const struct graft_module *mixer;     /* has the same input as attention */
    const struct graft_module *mlp;
    const struct graft_module *attention_norm;        /* norm of attention's input */
    const struct graft_module *attention_output_norm; /* norm of attention's output, before it is added */
    const struct graft_module *mlp_norm; /* norm of the MLP's input; NULL in parallel: attention's norm is used */
    const struct graft_module *mlp_output_norm;    /* norm of the MLP's output, before it is added */
    const struct graft_module *cross;              /* cross attention to an encoder's output, after attention */
    const struct graft_module *cross_norm;         /* its norm, in the same place as attention_norm */
    const struct graft_weight *attention_residual; /* [hidden_size]; this and the next NULL: none */
    const struct graft_weight *mlp_residual;
    int64_t hidden_size;
    uint32_t attention_features;
    int32_t parallel;        /* 1: attention and MLP have the same input, that of the layer */
    int32_t norm_after_add;  /* 1: attention_norm and mlp_norm are applied to the sums after attention and MLP */
    int32_t residual_normed; /* 1: outputs are added to the normed inputs of attention and MLP */
    int32_t mlp_mixes;       /* 1: the MLP is of graft.mixer/1, because it uses other tokens */
    float residual_scale;    /* a factor of the outputs of attention and MLP; 1 changes nothing, as below */
    float attention_skip;    /* factor of the residual to which attention's output is added */
    float attention_scale;   /* factor of attention's output */
    float mlp_skip;          /* the same for the MLP, like the next */
    float mlp_scale;
};

/* One call of a layer. Arrays of its steps are [tokens, hidden_size]. */
struct graft_layer_pass {
    struct graft_pass of;
    const struct graft_layer *layer;
    const struct graft_decoder_layer_args *args;
    const struct graft_layer_steps *steps;
};

/* Steps that a layer class may add to those of an ordinary layer; each function may be NULL. args->hidden_states is the
 * residual stream, to which `output` will be added. */
struct graft_layer_steps {
    /* Fills in `output`, which is added to the normed output of attention before that is scaled; attention's input is
     * `seen`. */
    void (*beside_attention)(const void *self, const struct graft_layer_pass *pass, const float *seen, float *output);
    /* Changes `output`, the MLP's output before its norm. */
    void (*after_mlp)(const void *self, const struct graft_layer_pass *pass, float *output);
    const void *self; /* passed to these functions */
};

/* [load] Lays out the children, as the family says. */
void graft_layer_outline(struct graft_outline *of, struct graft_layer *self);

/* [forward] Runs the layer with these steps. */
void graft_layer_run(const struct graft_layer *self, const struct graft_layer_steps *steps,
                     const struct graft_pass *pass, const struct graft_decoder_layer_args *args);

#endif
