/* SPDX-License-Identifier: Apache-2.0 */
/* Linears whose weights are -1, 0 or 1 times one scale, with transformers' class names. */
#ifndef BITLINEAR_LINEAR_H
#define BITLINEAR_LINEAR_H

#include "graft/class.h"
#include "graft/linear.h"
#include "loops.h"

/* How a token's integer sum becomes an output; `factor` is what its inputs were multiplied by. */
enum {
    BITLINEAR_DIVIDES = 0,    /* BitLinear: sum / (weight_scale * factor) + bias */
    BITLINEAR_MULTIPLIES = 1, /* AutoBitLinear: (sum / factor + bias) * weight_scale */
    BITLINEAR_ONLINE = 2      /* AutoBitLinear that rounds its weights itself: sum / factor * weight_scale + bias */
};

/* An instance. */
struct bitlinear {
    const struct bitlinear_loops *loops;
    const uint8_t *codes;                /* [rows, in_features] four codes a byte; a weight is its code minus 1 */
    uint8_t *own;                        /* `codes` if they were allocated here, not mapped; else NULL */
    const struct graft_weight *bias;     /* NULL: none */
    const struct graft_module *rms_norm; /* norm of the inputs; NULL: none */
    int64_t in_features;
    int64_t rows; /* out_features / BITLINEAR_PARTS: output k * rows + r has field k of the bytes of row r */
    float weight_scale;
    int32_t kind; /* BITLINEAR_DIVIDES, ... */
};

/* [load] Rounds a weight [out, in] as AutoBitLinear does in its forward; sets `own` and weight_scale. */
int bitlinear_pack(struct bitlinear *self, const struct graft_weight *weight, const char *path,
                   struct graft_error *error);

extern const struct graft_linear bitlinear_vtable;

extern const struct graft_class bitlinear_class;
extern const struct graft_class bitlinear_auto_class;
extern const struct graft_class bitlinear_online_class;

#endif
