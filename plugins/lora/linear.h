/* SPDX-License-Identifier: Apache-2.0 */
/* An instance of LoraLinear. */
#ifndef LORA_LINEAR_H
#define LORA_LINEAR_H

#include "magnitude.h"
#include "merge.h"
#include "pair.h"

/* What an adapter has for a part of the module, which is the whole module unless a class above joins it from several.
 */
struct lora_piece {
    const struct graft_module *module;
    const struct lora_pair *pair; /* NULL: the piece is a Linear that replaces the original's outputs, or a scale */
    int32_t scales;               /* 1: it multiplies the outputs, 2: the inputs; 0: it is not a scale */
    int32_t adapter;
    int64_t first; /* first of the module's outputs that it is for */
    int64_t outputs;
    struct lora_magnitude magnitude; /* of a pair of DoRA, or of a pair with a bias */
};

struct lora_linear {
    const struct graft_module *original;
    /* [n] pieces that replace outputs of the original first, scales last; each kind in the order of outputs. */
    struct lora_piece *pieces;
    int32_t n;
    int32_t n_whole; /* the number of pieces that replace outputs of the original */
    int32_t n_scales;
    int64_t in_features;
    int64_t out_features;
    struct lora_merged merged; /* replaces all pieces, if it has rows */
};

/* [forward] `forward` of the vtable. */
int lora_linear_forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                        struct graft_error *error);
int32_t lora_linear_as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product);

#endif
