/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LORA_H
#define LORA_H

#include "graft/class.h"

/* Around a Linear and an Embedding, whichever they are: their results and what adapters add to them. */
extern const struct graft_class lora_linear_class;
extern const struct graft_class lora_embedding_class;

/* What one adapter adds: the child "adapter.NAME" of these. Arguments beside their interfaces': rank, factor, and of
 * the embedding has_base. */
extern const struct graft_class lora_pair_class;
extern const struct graft_class lora_embedding_pair_class;

#endif
