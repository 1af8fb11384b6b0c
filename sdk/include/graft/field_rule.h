/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for fields of config.json that no class asks for. The host accounts for every field, as it does for every
 * tensor: a field that somebody asks for (config.h) is used. For any other there must be a rule, or the report lists it
 * as unused, and `--strict` refuses it.
 *
 *   static const struct graft_field_rule field_rules[] = {
 *       {.name = "embd_pdrop"},
 *       {.name = "residual_multiplier", .values = "[1.0]"},
 *       {.name = "clip_qkv", .values = "[null]", .flags = GRAFT_FIELD_ONLY},
 *   };
 *
 * Families have such lists (family.h), and so do plugins, for what they read (plugin.h). The host has one for fields of
 * configs of all families, such as transformers_version and initializer_range. The first rule that applies to a field
 * and its value counts: the family's come first, then the host's, then those of plugins. */
#ifndef GRAFT_FIELD_RULE_H
#define GRAFT_FIELD_RULE_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* A value that is not listed changes the results in a way that is not implemented: it is an error, whether or not a
       class asks for the field. */
    GRAFT_FIELD_ONLY = 1 << 16
};

/* Must not change, like everything that it points to, as long as its family or plugin exists. It has no `struct_size`,
 * because it occurs only in arrays, whose stride is its size. */
struct graft_field_rule {
    /* A dotted path in the file, with "*" for any one component: "clip_qkv", "quantization_config.damp_percent",
     * "adapter.*.inference_mode" (of an adapter_config.json). A rule without values also applies to everything below
     * the path, and so does one with GRAFT_FIELD_ONLY, which refuses an object that is not empty. Rules also apply in
     * sections of config.json that are configs themselves: "text_config.clip_qkv". */
    const char *name;
    /* A JSON array of the values that have no effect: "[null, 0.0]". Null always has none, unless the rule has
     * GRAFT_FIELD_ONLY. NULL: the field has no effect on results, whatever its value. */
    const char *values;
    uint32_t flags; /* GRAFT_FIELD_ONLY */
    uint32_t reserved;
};

#define GRAFT_FIELD_RULE_SIZE_1_0 GRAFT_END_OF(struct graft_field_rule, reserved)

GRAFT_ASSERT_SIZE(struct graft_field_rule, 24);

/* [any] Rule `i` of an array. */
GRAFT_INLINE const struct graft_field_rule *graft_field_rule_at(const struct graft_field_rule *rules, uint32_t stride,
                                                                int32_t i) {
    return (const struct graft_field_rule *)(const void *)((const char *)rules + (size_t)i * stride);
}

/* Initialisers of a list of rules, an array, for a family or a plugin. */
#define GRAFT_FIELD_RULES(array) \
    .field_rules = (array), .n_field_rules = sizeof(array) / sizeof(array)[0], .field_rule_stride = sizeof(array)[0]

#ifdef __cplusplus
}
#endif

#endif
