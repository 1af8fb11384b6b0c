/* SPDX-License-Identifier: Apache-2.0 */
/* Which members of tokenizer_config.json are read, and one that cannot be honoured. */
#ifndef GRAFT_TOKENIZER_CONFIG_FIELDS_H
#define GRAFT_TOKENIZER_CONFIG_FIELDS_H

#include "base/json.h"
#include "graft/error.h"

/* [any] Whether the tokenizer, or the program for chats, reads a member of that name with such a value. */
int graft_tokenizer_reads(const char *name, const graft_json *value);

/* [load] Refuses `fix_mistral_regex` where it would change ids. `config` is the document, or NULL, and `model_config`
 * that of config.json; `size` is the number of tokens of the model. */
int graft_config_fields_check(const graft_json *config, const char *file, const graft_json *model_config, size_t size,
                              struct graft_error *error);

#endif
