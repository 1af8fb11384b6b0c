/* SPDX-License-Identifier: Apache-2.0 */
/* What lists say of fields that nobody asks for (graft/field_rule.h). */
#ifndef GRAFT_CONFIG_RULES_H
#define GRAFT_CONFIG_RULES_H

#include "base/json.h"
#include "graft/error.h"
#include "graft/field_rule.h"

/* A list of rules and whose it is. */
struct graft_rules {
    const struct graft_field_rule *rules; /* [n] */
    int32_t n;
    uint32_t stride;
    const char *by; /* "the host", "plugin gptq", ... */
};

enum graft_ruling {
    GRAFT_RULING_NONE,           /* no rule says anything of the field with this value */
    GRAFT_RULING_WITHOUT_EFFECT, /* whatever its value */
    GRAFT_RULING_NEUTRAL,        /* this value says nothing */
    GRAFT_RULING_REFUSED,        /* this value is not among those that GRAFT_FIELD_ONLY lists */
    GRAFT_RULING_FAILED          /* memory ran out */
};

/* [any] What a list says of a field, by its path, with a value: the first of its rules that says anything of it, which
 * `*rule` becomes. */
enum graft_ruling graft_rules_judge(const struct graft_rules *list, const char *field, const graft_json *value,
                                    const struct graft_field_rule **rule);

/* [any] Whether the name of a rule is for a field of that path. */
int graft_rule_is_for(const char *name, const char *field);

/* [any] The host's own for a file of that name, "config.json", "generation_config.json", "tokenizer_config.json" or
 * "preprocessor_config.json"; of "config.json beside generation_config.json" those that hold then besides. One without
 * rules for any other. */
struct graft_rules graft_usual_rules(const char *file);

#endif
