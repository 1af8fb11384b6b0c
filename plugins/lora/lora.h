/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LORA_H
#define LORA_H

#include "graft/class.h"

struct graft_threads;

/* Around a Linear, an Embedding and stacked experts, whichever they are: their results and what adapters add. */
extern const struct graft_class lora_linear_class;
extern const struct graft_class lora_embedding_class;
extern const struct graft_class lora_experts_class;

/* What one adapter adds: the child "adapter.NAME" of these. Arguments beside their interfaces': rank, factor, and of
 * the embedding has_base. */
extern const struct graft_class lora_pair_class;
extern const struct graft_class lora_embedding_pair_class;

/* Whether a single adapter's pair is merged with the weights that it is for; set before anything is made. */
void lora_set_merging(int32_t merges, const struct graft_threads *given);

#endif
