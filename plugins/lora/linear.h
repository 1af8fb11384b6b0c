/* SPDX-License-Identifier: Apache-2.0 */
/* An instance of LoraLinear. */
#ifndef LORA_LINEAR_H
#define LORA_LINEAR_H

#include "magnitude.h"
#include "merge.h"
#include "pair.h"

/* What an adapter has for a part of the module: all of it, unless a class above joins it from several. */
struct lora_piece {
    const struct graft_module *module;
    const struct lora_pair *pair; /* NULL: it is a Linear that takes the place of the original's outputs, or a scale */
    int32_t scales;               /* 0; 1: it multiplies the outputs, 2: the inputs */
    int32_t adapter;
    int64_t first; /* of the module's outputs */
    int64_t outputs;
    struct lora_magnitude magnitude; /* of a pair of DoRA, or with a bias */
};

struct lora_linear {
    const struct graft_module *original;
    struct lora_piece *pieces; /* [n]: whole ones go first, scales last; each kind in the order of outputs */
    int32_t n;
    int32_t n_whole; /* that take the place of the original's outputs */
    int32_t n_scales;
    int64_t in_features;
    int64_t out_features;
    struct lora_merged merged; /* takes the place of all, unless it has no rows */
};

/* [forward] The vtable's. */
int lora_linear_forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                        struct graft_error *error);
int32_t lora_linear_as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product);

#endif
