/* SPDX-License-Identifier: Apache-2.0 */
/* factor * B (A x), a product of low rank (Hu et al. 2021). */
#ifndef LORA_PAIR_H
#define LORA_PAIR_H

#include "columns.h"
#include "graft/linear.h"

struct lora_pair {
    const struct graft_module *a; /* a Linear [rank, in] */
    const struct graft_module *b; /* a Linear [out, rank] */
    int64_t rank;
    int64_t out_features;
    float factor;
    const struct graft_weight *magnitude; /* DoRA's lora_magnitude_vector [out], or NULL */
    const struct graft_weight
        *bias;                   /* lora_B's bias [out] (lora_bias), or NULL; the module that uses the pair adds it */
    struct lora_columns columns; /* of b; none if its numbers are not known */
};

/* [load] The pair of a module of the class LoraPair. */
const struct lora_pair *lora_pair_of(const struct graft_module *module);

/* [load] Gets the products of lora_A and lora_B; 0 if one of them is not a product. */
int lora_pair_products(const struct lora_pair *pair, struct graft_product *a, struct graft_product *b);

/* [forward] For few tokens, splits a pair into the product of lora_A, whose result goes to args->y [tokens, rank], and
 * an addition to the result. 0 if that is not possible: then call the module's forward. */
int32_t lora_pair_first(const struct lora_pair *pair, const struct graft_call *call,
                        const struct graft_linear_args *args, struct graft_product *product);

#endif
