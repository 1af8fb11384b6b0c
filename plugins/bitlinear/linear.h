/* SPDX-License-Identifier: Apache-2.0 */
/* Linears whose weights are -1, 0 and 1 times one scale, and the classes of them, under transformers' names. */
#ifndef BITLINEAR_LINEAR_H
#define BITLINEAR_LINEAR_H

#include "graft/class.h"
#include "graft/linear.h"
#include "loops.h"

/* What becomes of a token's integer sum, of inputs that were multiplied by `factor`. */
enum {
    BITLINEAR_DIVIDES = 0,    /* BitLinear: sum / (weight_scale * factor) + bias */
    BITLINEAR_MULTIPLIES = 1, /* AutoBitLinear: (sum / factor + bias) * weight_scale */
    BITLINEAR_ONLINE = 2      /* the same of weights that it rounds itself: sum / factor * weight_scale + bias */
};

/* An instance. */
struct bitlinear {
    const struct bitlinear_loops *loops;
    const uint8_t *codes;                /* [rows, in_features], each less one: the weight is -1 to 1 */
    uint8_t *own;                        /* `codes`, where they are not the file's; else NULL */
    const struct graft_weight *bias;     /* NULL: none */
    const struct graft_module *rms_norm; /* of the inputs; NULL: none */
    int64_t in_features;
    int64_t rows; /* out_features / BITLINEAR_PARTS: output k * rows + r has field k of the bytes of row r */
    float weight_scale;
    int32_t kind; /* BITLINEAR_DIVIDES, ... */
};

/* [load] Rounds a weight [out, in] as AutoBitLinear does in its forward: `own` and weight_scale. */
int bitlinear_pack(struct bitlinear *self, const struct graft_weight *weight, const char *path,
                   struct graft_error *error);

extern const struct graft_linear bitlinear_vtable;

extern const struct graft_class bitlinear_class;
extern const struct graft_class bitlinear_auto_class;
extern const struct graft_class bitlinear_online_class;

#endif
