/* SPDX-License-Identifier: Apache-2.0 */
/* What of tokenizer_config.json has been read, and what of it nobody reads. */
#ifndef GRAFT_TOKENIZER_CONFIG_FIELDS_H
#define GRAFT_TOKENIZER_CONFIG_FIELDS_H

#include "base/json.h"
#include "base/text.h"
#include "graft/error.h"

/* [load] Adds a note that lists the fields that nothing reads, with their values, and that are not known to do nothing.
 * A field whose value changes ids and is not supported is an error. `config` is the document, or NULL, and
 * `model_config` that of config.json; `size` is the number of tokens of the model. */
int graft_config_fields_check(const graft_json *config, const char *file, const graft_json *model_config, size_t size,
                              struct graft_text *notes, struct graft_error *error);

#endif
