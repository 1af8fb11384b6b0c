/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how quantization_config says one module is stored, from the group that the module belongs to. */
#ifndef CT_SCHEME_H
#define CT_SCHEME_H

#include "graft/config.h"
#include "graft/regex.h"

/* What shares a scale. CT_TENSOR_GROUP has groups and a divisor for the whole tensor. */
enum ct_strategy { CT_TENSOR, CT_CHANNEL, CT_GROUP, CT_BLOCK, CT_TENSOR_GROUP };

struct ct_scheme {
    int32_t kind; /* kind of codes: GRAFT_CODE_... */
    int32_t bits; /* of a code, as stored */
    enum ct_strategy strategy;
    int64_t group_size;      /* CT_GROUP, CT_TENSOR_GROUP */
    int64_t block[2];        /* CT_BLOCK: rows and columns */
    int32_t is_asymmetric;   /* packed codes have zero points */
    int32_t is_ordered;      /* weight_g_idx gives the group of each input */
    const char *input_scale; /* name of the parameter for a fixed scale of activations, which is not used; NULL: none */
};

/* [load] Whether codes are packed in words. */
int32_t ct_has_words(const struct ct_scheme *scheme);

/* [load] Whether scales are for groups of inputs, with a divisor or without. */
int32_t ct_has_groups(const struct ct_scheme *scheme);

/* [load] Reads the scheme of the Linear at `path`. A field that cannot be supported is an error that names it. */
int ct_scheme_read(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                   struct ct_scheme *scheme, struct graft_error *error);

#endif
