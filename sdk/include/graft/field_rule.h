/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a field of config.json means that no class asks for. The host accounts for each field as it does for each
 * tensor: one that somebody asked for (config.h) is used. Any other is in a list, or the report says that it is not
 * used, and `--strict` refuses it.
 *
 *     static const struct graft_field_rule field_rules[] = {
 *         {.name = "embd_pdrop"},
 *         {.name = "residual_multiplier", .values = "[1.0]"},
 *         {.name = "clip_qkv", .values = "[null]", .flags = GRAFT_FIELD_ONLY},
 *     };
 *
 * Families have such lists (family.h), and so have plugins, for what they read (plugin.h). The host has one for fields
 * that configs of every family have, such as transformers_version and initializer_range. Of the rules for a field the
 * first counts that says anything of its value: those of the family go before the host's, and these before those of
 * plugins.
 */
#ifndef GRAFT_FIELD_RULE_H
#define GRAFT_FIELD_RULE_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Any value but those listed changes the results in a way that is not implemented: an error, whether or not a class
     * asks for the field. */
    GRAFT_FIELD_ONLY = 1 << 16
};

/* Const, as all that it points to, and valid as long as the family or plugin that it is a part of. It has no
 * `struct_size`, since it occurs in arrays only: their stride is its size. */
struct graft_field_rule {
    /* A dotted path of the file, "*" for any one part of it: "clip_qkv", "quantization_config.damp_percent",
     * "adapter.*.inference_mode" (of an adapter_config.json). One without values is also for all that is below it, and
     * so is one with GRAFT_FIELD_ONLY, which refuses an object that has something in it. It is for parts of
     * config.json, too, that are configs themselves: "text_config.clip_qkv". */
    const char *name;
    /* A JSON array of the values that say nothing: "[null, 0.0]". Null is always one, unless the rule has
     * GRAFT_FIELD_ONLY. NULL: whatever the value is, the field has no effect on what is computed. */
    const char *values;
    uint32_t flags; /* GRAFT_FIELD_ONLY */
    uint32_t reserved;
};

#define GRAFT_FIELD_RULE_SIZE_1_0 GRAFT_END_OF(struct graft_field_rule, reserved)

GRAFT_ASSERT_SIZE(struct graft_field_rule, 24);

/* [any] Rule number `i` of an array of them. */
GRAFT_INLINE const struct graft_field_rule *graft_field_rule_at(const struct graft_field_rule *rules, uint32_t stride,
                                                                int32_t i) {
    return (const struct graft_field_rule *)(const void *)((const char *)rules + (size_t)i * stride);
}

/* Initialisers of a list of rules, an array, in a family or a plugin. */
#define GRAFT_FIELD_RULES(array) \
    .field_rules = (array), .n_field_rules = sizeof(array) / sizeof(array)[0], .field_rule_stride = sizeof(array)[0]

#ifdef __cplusplus
}
#endif

#endif
