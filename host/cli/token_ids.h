/* SPDX-License-Identifier: Apache-2.0 */
/* Checks token ids against the model. */
#ifndef GRAFT_CLI_TOKEN_IDS_H
#define GRAFT_CLI_TOKEN_IDS_H

#include "graft/host/graft.h"
#include "graft/host/tokenizer.h"

/* Checks that the model's embedding has a row for each id that its tokenizer gave for a text. If not, the model's files
 * do not fit together; the error names the file and the token. */
int graft_token_ids_check(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                          const struct graft_ids *ids, struct graft_error *error);

#endif
