/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LORA_H
#define LORA_H

#include "graft/class.h"
#include "graft/kernels.h"
#include "graft/linear.h"

struct graft_threads;

/* Around a Linear, an Embedding and stacked experts, whichever they are: their results and what adapters add. */
extern const struct graft_class lora_linear_class;
extern const struct graft_class lora_embedding_class;
extern const struct graft_class lora_experts_class;

/* What one adapter adds: the child "adapter.NAME" of these. Arguments beside their interfaces': rank, factor, and of
 * the embedding has_base. */
extern const struct graft_class lora_pair_class;
extern const struct graft_class lora_embedding_pair_class;

/* [load] The products of lora_A and lora_B of a LoraPair, and its factor; 0 when one of them is no product. */
int lora_pair_products(const struct graft_module *module, struct graft_product *a, struct graft_product *b,
                       float *factor);

/* [any] The rank of a LoraPair. */
int64_t lora_pair_rank(const struct graft_module *module);

/* [forward] For a few tokens a LoraPair is the product of lora_A and, once that has been made into `narrow` [tokens,
 * rank], an addition to y [tokens, out]. 0 where it is not: then its forward is to be called. args->y is `narrow`. */
int32_t lora_pair_first(const struct graft_module *module, const struct graft_linear_args *args,
                        struct graft_product *product);
void lora_pair_add(const struct graft_module *module, const float *narrow, int64_t tokens, float *y);

/* Whether a single adapter's pair is merged with the weights that it is for; set before anything is made. */
void lora_set_merging(int32_t merges, const struct graft_threads *given);

#endif
