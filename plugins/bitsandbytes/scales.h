/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or computes the scales of a 4-bit weight from the checkpoint's tensors. */
#ifndef BITSANDBYTES_SCALES_H
#define BITSANDBYTES_SCALES_H

#include "graft/quant_format.h"

/* The tensors of a weight, and how far they have been read. A weight may be joined from several projections (parts),
 * each with its own share of every tensor. */
struct bnb_parts {
    const char *path;                         /* of the module */
    const char *type;                         /* "nf4" */
    const char *state_name;                   /* "weight.quant_state.bitsandbytes__nf4" */
    const struct graft_weight *codes;         /* U8, one column */
    const struct graft_weight *absmax;        /* F32, or U8: codes of nested_map */
    const struct graft_weight *nested_absmax; /* F32; NULL: absmax has the scales themselves */
    const float *nested_map;                  /* [256], with nested_absmax only */
    const struct graft_weight *state;         /* the bytes of JSON objects (quant_state.h) */
    int64_t block;                            /* weights that share a scale; the same for all parts */
    int64_t row, at_absmax, at_nested, at_state;
};

/* [load] Sets the groups and the scales of a codec. Fails if a part does not match its quantization state. */
int bnb_scales_bind(struct bnb_parts *parts, const struct graft_build *build, struct graft_codec *codec,
                    struct graft_error *error);

#endif
