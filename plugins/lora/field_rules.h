/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an adapter_config.json that the plugin need not ask for; fields.c refuses those that it does not know. */
#ifndef LORA_FIELD_RULES_H
#define LORA_FIELD_RULES_H

#include "graft/field_rule.h"

static const struct graft_field_rule lora_field_rules[] = {
    /* What changes nothing once an adapter is trained, and what its tensors say as well. */
    {.name = "adapter.*.alpha"},
    {.name = "adapter.*.alpha_pattern"},
    {.name = "adapter.*.bias"},
    {.name = "adapter.*.corda_config"},
    {.name = "adapter.*.d_initial"},
    {.name = "adapter.*.decompose_both"},
    {.name = "adapter.*.decompose_factor"},
    {.name = "adapter.*.ensure_weight_tying"},
    {.name = "adapter.*.eva_config"},
    {.name = "adapter.*.exclude_modules"},
    {.name = "adapter.*.fan_in_fan_out"},
    {.name = "adapter.*.feedforward_modules"},
    {.name = "adapter.*.init_ia3_weights"},
    {.name = "adapter.*.init_lora_weights"},
    {.name = "adapter.*.init_weights"},
    {.name = "adapter.*.layers_pattern"},
    {.name = "adapter.*.layers_to_transform"},
    {.name = "adapter.*.loftq_config"},
    {.name = "adapter.*.lora_alpha"},
    {.name = "adapter.*.lora_dropout"},
    {.name = "adapter.*.lora_ga_config"},
    {.name = "adapter.*.megatron_config"},
    {.name = "adapter.*.megatron_core"},
    {.name = "adapter.*.module_dropout"},
    {.name = "adapter.*.modules_to_save"},
    {.name = "adapter.*.peft_type"},
    {.name = "adapter.*.projection_prng_key"},
    {.name = "adapter.*.qalora_group_size"},
    {.name = "adapter.*.r"},
    {.name = "adapter.*.rank_dropout"},
    {.name = "adapter.*.rank_dropout_scale"},
    {.name = "adapter.*.rank_pattern"},
    {.name = "adapter.*.runtime_config"},
    {.name = "adapter.*.save_projection"},
    {.name = "adapter.*.target_modules"},
    {.name = "adapter.*.target_parameters"},
    {.name = "adapter.*.trainable_token_indices"},
    {.name = "adapter.*.use_dora"},
    {.name = "adapter.*.use_effective_conv2d"},
    {.name = "adapter.*.use_rslora"},
    {.name = "adapter.*.velora_config"},
    {.name = "adapter.*.vera_dropout"},
};

#endif
