/* SPDX-License-Identifier: Apache-2.0 */
/* The scales of a 4-bit weight, from the tensors that the checkpoint has for them. */
#ifndef BITSANDBYTES_SCALES_H
#define BITSANDBYTES_SCALES_H

#include "graft/quant_format.h"

/* What a weight is made of, and how far its parts have been gone through, each of which has its own of everything:
 * projections that are joined, or a single one. */
struct bnb_parts {
    const char *path;                         /* of the module */
    const char *type;                         /* "nf4" */
    const char *state_name;                   /* "weight.quant_state.bitsandbytes__nf4" */
    const struct graft_weight *codes;         /* U8, a column */
    const struct graft_weight *absmax;        /* F32; U8: the codes of nested_map */
    const struct graft_weight *nested_absmax; /* F32; NULL: absmax are the scales themselves */
    const float *nested_map;                  /* [256] with nested_absmax */
    const struct graft_weight *state;         /* the bytes of JSON objects */
    int64_t block;                            /* weights that share a scale: the same of all */
    int64_t row, at_absmax, at_nested, at_state;
};

/* [load] Sets the groups and the scales of a codec; all parts have to be what their states say. */
int bnb_scales_bind(struct bnb_parts *parts, const struct graft_build *build, struct graft_codec *codec,
                    struct graft_error *error);

#endif
