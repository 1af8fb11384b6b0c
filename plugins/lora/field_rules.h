/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an adapter_config.json that the plugin knows; fields.c refuses any other field that changes the result. */
#ifndef LORA_FIELD_RULES_H
#define LORA_FIELD_RULES_H

#include "graft/field_rule.h"

#define LORA_RULE_PREFIX "adapter.*."
#define LORA_RULE(field) \
    { .name = LORA_RULE_PREFIX field }

static const struct graft_field_rule lora_field_rules[] = {
    /* Fields that have no effect after training, that the tensors imply, or that other files of this plugin read. */
    LORA_RULE("alpha"),
    LORA_RULE("alpha_pattern"),
    LORA_RULE("auto_mapping"),
    LORA_RULE("base_model_name_or_path"),
    LORA_RULE("bias"),
    LORA_RULE("corda_config"),
    LORA_RULE("d_initial"),
    LORA_RULE("decompose_both"),
    LORA_RULE("decompose_factor"),
    LORA_RULE("ensure_weight_tying"),
    LORA_RULE("eva_config"),
    LORA_RULE("exclude_modules"),
    LORA_RULE("fan_in_fan_out"),
    LORA_RULE("feedforward_modules"),
    LORA_RULE("inference_mode"),
    LORA_RULE("init_ia3_weights"),
    LORA_RULE("init_lora_weights"),
    LORA_RULE("init_weights"),
    LORA_RULE("layers_pattern"),
    LORA_RULE("layers_to_transform"),
    LORA_RULE("loftq_config"),
    LORA_RULE("lora_alpha"),
    LORA_RULE("lora_dropout"),
    LORA_RULE("lora_ga_config"),
    LORA_RULE("megatron_config"),
    LORA_RULE("megatron_core"),
    LORA_RULE("module_dropout"),
    LORA_RULE("modules_to_save"),
    LORA_RULE("peft_type"),
    LORA_RULE("peft_version"),
    LORA_RULE("projection_prng_key"),
    LORA_RULE("qalora_group_size"),
    LORA_RULE("r"),
    LORA_RULE("rank_dropout"),
    LORA_RULE("rank_dropout_scale"),
    LORA_RULE("rank_pattern"),
    LORA_RULE("revision"),
    LORA_RULE("runtime_config"),
    LORA_RULE("save_projection"),
    LORA_RULE("target_modules"),
    LORA_RULE("target_parameters"),
    LORA_RULE("task_type"),
    LORA_RULE("trainable_token_indices"),
    LORA_RULE("use_dora"),
    LORA_RULE("use_effective_conv2d"),
    LORA_RULE("use_rslora"),
    LORA_RULE("velora_config"),
    LORA_RULE("vera_dropout"),
    /* Fields that are read, with the values that are not supported everywhere. */
    {.name = LORA_RULE_PREFIX "lora_bias", .values = "[false]"},
};

#endif
