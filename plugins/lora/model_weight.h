/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adapter has in the place of the model's own weight, where PEFT loads it into the model itself: the table that
 * is stored beside a pair ("base_layer.weight"), or of a resized vocabulary ("weight"), and rows of single tokens
 * (trainable_token_indices, "token_adapter.trainable_tokens_delta"). A module that shares its weight follows. All is
 * [load].
 */
#ifndef LORA_MODEL_WEIGHT_H
#define LORA_MODEL_WEIGHT_H

#include "graft/class.h"

/* Memory that `lora_describe_weight` is to be given, in bytes: a multiple of 8. */
int64_t lora_weight_bytes(const struct graft_config *config, const struct graft_sink *sink);

/* Describes conversions to the parameters `weight` and `bias` of what the module of `sink` wraps. `kept` is zeroed, and
 * lives as long as the module's description. */
int lora_describe_weight(const struct graft_config *config, const struct graft_sink *sink, int64_t *kept,
                         struct graft_error *error);

#endif
