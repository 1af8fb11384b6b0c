/* SPDX-License-Identifier: Apache-2.0 */
/* Which modules an adapter_config.json names. */
#ifndef LORA_TARGETS_H
#define LORA_TARGETS_H

#include "fields.h"
#include "graft/regex.h"

/* Where patterns are searched with; set before anything is described. */
void lora_set_regexes(const struct graft_regexes *given);

/* Whether all of `text` matches `pattern`. */
int lora_matches(const char *pattern, const char *text, const char *file, int32_t *found, struct graft_error *error);

/* [load] An adapter with a pair for a module that its `target_modules` does not name is an error: PEFT would pass over
 * the pair. Modules that it names and has none for are as PEFT makes them: without effect. */
int lora_check_target(const struct lora_fields *fields, const char *module, struct graft_error *error);

/* [load] Whether `target_parameters` names it: "model.layers.0.mlp.experts.down_proj". */
int lora_names_parameter(const struct lora_fields *fields, const char *parameter);

#endif
