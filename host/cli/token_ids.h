/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of texts, as the model's tokenizer gives them. */
#ifndef GRAFT_CLI_TOKEN_IDS_H
#define GRAFT_CLI_TOKEN_IDS_H

#include "graft/host/graft.h"
#include "graft/host/tokenizer.h"

/* Whether the model has a row for each id that its tokenizer gave for a text. Otherwise its files do not fit each
 * other, whatever the text: an error that names the file and the token. */
int graft_token_ids_check(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                          const struct graft_ids *ids, struct graft_error *error);

#endif
