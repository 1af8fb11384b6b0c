/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that an adapter_config.json names. */
#ifndef LORA_TARGETS_H
#define LORA_TARGETS_H

#include "fields.h"
#include "graft/regex.h"

/* Sets the host's regular expressions; called before anything is described. */
void lora_set_regexes(const struct graft_regexes *given);

/* Whether all of `text` matches `pattern`. */
int lora_matches(const char *pattern, const char *text, const char *file, int32_t *found, struct graft_error *error);

/* [load] Refuses an adapter with a pair that PEFT would silently not use: one for a module that `target_modules` does
 * not name, or names only for other layers (`layers_to_transform`), or that `exclude_modules` or `modules_to_save`
 * names. Named modules without a pair are accepted, as in PEFT: they have no effect. With `ensure_weight_tying`, a head
 * of `outputs` outputs may be named through the embedding whose weight it shares. */
int lora_check_target(const struct lora_fields *fields, const char *module, int64_t outputs, struct graft_error *error);

/* [load] Whether the adapter stores the module whole: `modules_to_save` names it, or `ensure_weight_tying` implies it;
 * not if the vocabulary has been resized. */
int lora_is_saved(const struct lora_fields *fields, const char *module);

/* [load] Whether `target_parameters` names it: "model.layers.0.mlp.experts.down_proj". */
int lora_names_parameter(const struct lora_fields *fields, const char *parameter);

#endif
