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
 * a Linear's pair magnitude and lora_bias, and what it is made of (made.h); of LoraScale, features and of_inputs. */
extern const struct graft_class lora_pair_class;
#define LORA_INTERFACE_SCALE "lora.scale/1"
extern const struct graft_class lora_scale_class;
extern const struct graft_class lora_embedding_pair_class;

/* The same for experts that an adapter has stacked (stack.h). Arguments: num_experts, hidden_size, intermediate_size;
 * gate_up_proj_rank and gate_up_proj_factor, down_proj_rank and down_proj_factor, of both or one; by_turns, 1: rows of
 * gate_up_proj are one of gate, one of up. */
#define LORA_INTERFACE_EXPERTS_PAIRS "lora.experts_pairs/1"
extern const struct graft_class lora_experts_pairs_class;

/* Whether a single adapter's pair is merged with the weights that it is for; set before anything is made. */
void lora_set_merging(int32_t merges, const struct graft_threads *given);

#endif
