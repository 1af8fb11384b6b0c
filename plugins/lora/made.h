/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters whose low-rank product is computed from tensors other than lora_A and lora_B, while the model is loaded. All
 * functions are [load].
 *
 * LoHa (Hyeon-Woo et al. 2021): (w1_a w1_b) * (w2_a w2_b), element by element, which has rank r^2.
 *
 * LoKr (Yeh et al. 2023): the Kronecker product of w1 and w2, each of which may itself be a product.
 *
 * VeRA (Kopiczko et al. 2023): diag(lambda_b) B diag(lambda_d) A, with an A and a B that all modules share. */
#ifndef LORA_MADE_H
#define LORA_MADE_H

#include "graft/class.h"

enum {
    LORA_METHOD_LORA = 0, /* nothing has to be computed */
    LORA_METHOD_LOHA = 1,
    LORA_METHOD_LOKR = 2,
    LORA_METHOD_VERA = 3,
    LORA_METHODS = 4
};

/* The peft_type of each method. */
extern const char *const lora_method_types[LORA_METHODS];

/* What an adapter has for a module, according to the shapes of its tensors. */
struct lora_made {
    int32_t method;
    int64_t rank;        /* rank of the product */
    int64_t stored_rank; /* the config's r; 0: the tensors do not imply it */
    /* LoKr, if w1 or w2 is not stored as a product: its number of columns, or of rows. It is treated as a product with
     * a unit matrix of that size; 0: it is stored as a product. */
    int64_t unit[2];
};

/* Finds out what the adapter has for the module's child of that name ("adapter.NAME"). Returns one of its tensors, or
 * NULL if there are none. */
const char *lora_made_find(const struct graft_sink *sink, const char *child, struct lora_made *made);

/* For `describe` of that child: declares the conversions that compute `lora_A.weight` [rank, in] and `lora_B.weight`
 * [out, rank]. */
int lora_describe_made(const struct graft_sink *sink, const struct lora_made *made, int64_t in_features,
                       struct graft_error *error);

#endif
