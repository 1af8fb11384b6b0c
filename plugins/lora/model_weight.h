/* SPDX-License-Identifier: Apache-2.0 */
/* What an adapter has in place of the model's own weight, which PEFT loads into the model: a table that is stored next
 * to a pair ("base_layer.weight"), a table of a resized vocabulary ("weight"), and rows of single tokens
 * (trainable_token_indices, "token_adapter.trainable_tokens_delta"). A module that shares the weight changes with it.
 * All functions are [load]. */
#ifndef LORA_MODEL_WEIGHT_H
#define LORA_MODEL_WEIGHT_H

#include "graft/class.h"

/* The size in bytes of the memory that `lora_describe_weight` needs: a multiple of 8. */
int64_t lora_weight_bytes(const struct graft_config *config, const struct graft_sink *sink);

/* Declares conversions to the parameters `weight` and `bias` of the module that `sink`'s module wraps. `kept` is zeroed
 * and lives as long as the module's description. */
int lora_describe_weight(const struct graft_config *config, const struct graft_sink *sink, int64_t *kept,
                         struct graft_error *error);

#endif
