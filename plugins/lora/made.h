/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters whose product of low rank is made of other tensors than lora_A and lora_B, while the model is loaded:
 *
 * LoHa (Hyeon-Woo et al. 2021): (w1_a w1_b) * (w2_a w2_b), number by number, which has rank r^2.
 * LoKr (Yeh et al. 2023): the Kronecker product of w1 and w2, of which each may be a product, too.
 * VeRA (Kopiczko et al. 2023): diag(lambda_b) B diag(lambda_d) A, of an A and a B that all modules share.
 *
 * All is [load].
 */
#ifndef LORA_MADE_H
#define LORA_MADE_H

#include "graft/class.h"

enum {
    LORA_METHOD_LORA = 0, /* nothing has to be made */
    LORA_METHOD_LOHA = 1,
    LORA_METHOD_LOKR = 2,
    LORA_METHOD_VERA = 3,
    LORA_METHODS = 4
};

/* The peft_type of each. */
extern const char *const lora_method_types[LORA_METHODS];

/* What an adapter has for a module, by the shapes of its tensors. */
struct lora_made {
    int32_t method;
    int64_t rank;        /* of the product */
    int64_t stored_rank; /* what its config calls r; 0: the tensors do not tell */
    /* LoKr, of a w1 or w2 that is stored whole: its columns, or its rows. It is taken for a product with a unit matrix
     * of that size; 0: it is stored as a product. */
    int64_t unit[2];
};

/* Finds out what there is below the module's child of that name ("adapter.NAME"); NULL: nothing, else a tensor of it.
 */
const char *lora_made_find(const struct graft_sink *sink, const char *child, struct lora_made *made);

/* In `describe` of that child: the conversions that make `lora_A.weight` [rank, in] and `lora_B.weight` [out, rank]. */
int lora_describe_made(const struct graft_sink *sink, const struct lora_made *made, int64_t in_features,
                       struct graft_error *error);

#endif
