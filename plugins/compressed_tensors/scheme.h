/* SPDX-License-Identifier: Apache-2.0 */
/* What quantization_config says of one module: which of its groups the module is in, and how that is stored. */
#ifndef CT_SCHEME_H
#define CT_SCHEME_H

#include "graft/config.h"
#include "graft/regex.h"

/* What shares a scale. Those of CT_TENSOR_GROUP have a divisor, which all of them share. */
enum ct_strategy { CT_TENSOR, CT_CHANNEL, CT_GROUP, CT_BLOCK, CT_TENSOR_GROUP };

struct ct_scheme {
    int32_t kind; /* of codes: GRAFT_CODE_... */
    int32_t bits; /* of a code as it is stored */
    enum ct_strategy strategy;
    int64_t group_size;      /* CT_GROUP, CT_TENSOR_GROUP */
    int64_t block[2];        /* CT_BLOCK: rows and columns */
    int32_t is_asymmetric;   /* codes in words have zero points */
    int32_t is_ordered;      /* weight_g_idx gives the group of each input */
    const char *input_scale; /* a parameter, one number for activations, which is not used; NULL: there is none */
};

/* [load] Whether codes lie in words. */
int32_t ct_has_words(const struct ct_scheme *scheme);

/* [load] Whether a group of inputs shares a scale, with a divisor or without. */
int32_t ct_has_groups(const struct ct_scheme *scheme);

/* [load] That of the Linear at `path`. What it cannot read is an error that names the field. */
int ct_scheme_read(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                   struct ct_scheme *scheme, struct graft_error *error);

#endif
