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

/* [load] An adapter with a pair for a module that PEFT would not adapt, and whose pair it would pass over, is an error:
 * one that `target_modules` does not name, or only for other layers (`layers_to_transform`), or that `exclude_modules`
 * or `modules_to_save` names. Modules that it names and has none for are as PEFT makes them: without effect. With
 * `ensure_weight_tying` a head of `outputs` outputs may be named through the embedding whose weight it shares. */
int lora_check_target(const struct lora_fields *fields, const char *module, int64_t outputs, struct graft_error *error);

/* [load] Whether the adapter brings the module whole: `modules_to_save` names it, or `ensure_weight_tying` may; but not
 * where the vocabulary has been resized. */
int lora_is_saved(const struct lora_fields *fields, const char *module);

/* [load] Whether `target_parameters` names it: "model.layers.0.mlp.experts.down_proj". */
int lora_names_parameter(const struct lora_fields *fields, const char *parameter);

#endif
