/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LORA_H
#define LORA_H

#include "graft/class.h"

struct graft_threads;

/* Classes that wrap a Linear, an Embedding and stacked experts, and add what adapters have to their results. */
extern const struct graft_class lora_linear_class;
extern const struct graft_class lora_embedding_class;
extern const struct graft_class lora_experts_class;

/* Classes of the children "adapter.NAME", each of which computes what one adapter adds. Arguments in addition to those
 * of their interfaces: rank and factor; for a Linear's pair magnitude, lora_bias, and what it is computed from
 * (made.h); for LoraScale, features and of_inputs. */
extern const struct graft_class lora_pair_class;
#define LORA_INTERFACE_SCALE "lora.scale/1"
extern const struct graft_class lora_scale_class;
extern const struct graft_class lora_embedding_pair_class;

/* The child's class for experts whose adapter is stacked (stack.h). Arguments: num_experts, hidden_size,
 * intermediate_size; gate_up_proj_rank and gate_up_proj_factor, or down_proj_rank and down_proj_factor, or both;
 * by_turns (1: rows of gate and up alternate in gate_up_proj). */
#define LORA_INTERFACE_EXPERTS_PAIRS "lora.experts_pairs/1"
extern const struct graft_class lora_experts_pairs_class;

/* Sets whether the pair of a single adapter is merged with its weight; called before any instance is created. */
void lora_set_merging(int32_t merges, const struct graft_threads *given);

#endif
