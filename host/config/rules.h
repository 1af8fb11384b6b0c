/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for fields that nothing asks for (graft/field_rule.h). */
#ifndef GRAFT_CONFIG_RULES_H
#define GRAFT_CONFIG_RULES_H

#include "base/json.h"
#include "graft/error.h"
#include "graft/field_rule.h"

/* A list of rules and its owner. */
struct graft_rules {
    const struct graft_field_rule *rules; /* [n] */
    int32_t n;
    uint32_t stride;
    const char *by; /* "the host", "plugin gptq", ... */
};

enum graft_ruling {
    GRAFT_RULING_NONE,           /* no rule applies to the field with this value */
    GRAFT_RULING_WITHOUT_EFFECT, /* the field has no effect, whatever its value */
    GRAFT_RULING_NEUTRAL,        /* this value has no effect */
    GRAFT_RULING_REFUSED,        /* GRAFT_FIELD_ONLY does not list this value */
    GRAFT_RULING_FAILED          /* memory ran out */
};

/* [any] Judges a field with a value by the first rule of the list that applies; `*rule` becomes that rule. */
enum graft_ruling graft_rules_judge(const struct graft_rules *list, const char *field, const graft_json *value,
                                    const struct graft_field_rule **rule);

/* [any] Whether a rule's name means the field at a path. */
int graft_rule_is_for(const char *name, const char *field);

/* [any] The host's own rules for "config.json", "generation_config.json", "tokenizer_config.json" or
 * "preprocessor_config.json"; for "config.json beside generation_config.json", the further rules that apply to
 * config.json then. No rules for any other name. */
struct graft_rules graft_usual_rules(const char *file);

#endif
