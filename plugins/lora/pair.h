/* SPDX-License-Identifier: Apache-2.0 */
/* factor * B (A x), the product of low rank (Hu et al. 2021). */
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
    const struct graft_weight *magnitude; /* lora_magnitude_vector [out] of DoRA, or NULL */
    const struct graft_weight *bias;      /* that of lora_B [out] (lora_bias), or NULL; added by whom the pair is for */
    struct lora_columns columns;          /* of b; none: its numbers are not known */
};

/* [load] What the class LoraPair has made. */
const struct lora_pair *lora_pair_of(const struct graft_module *module);

/* [load] The products of lora_A and lora_B; 0 when one of them is no product. */
int lora_pair_products(const struct lora_pair *pair, struct graft_product *a, struct graft_product *b);

/* [forward] For a few tokens a pair is the product of lora_A and, once that has been made into args->y [tokens, rank],
 * an addition to the result. 0 where it is not: then the module's forward is to be called. */
int32_t lora_pair_first(const struct lora_pair *pair, const struct graft_call *call,
                        const struct graft_linear_args *args, struct graft_product *product);

#endif
