/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of tokenizer_config.json that are read, and the one that is refused. */
#ifndef GRAFT_TOKENIZER_CONFIG_FIELDS_H
#define GRAFT_TOKENIZER_CONFIG_FIELDS_H

#include "base/json.h"
#include "graft/error.h"

/* [any] Whether the tokenizer or the chat template reads the field `name` if it has this value. */
int graft_tokenizer_reads(const char *name, const graft_json *value);

/* [load] Refuses `fix_mistral_regex` where it would change ids. `config` is tokenizer_config.json or NULL,
 * `model_config` is config.json, and `size` is the number of tokens in the vocabulary. */
int graft_config_fields_check(const graft_json *config, const char *file, const graft_json *model_config, size_t size,
                              struct graft_error *error);

#endif
