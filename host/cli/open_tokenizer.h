/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_OPEN_TOKENIZER_H
#define GRAFT_CLI_OPEN_TOKENIZER_H

#include "cli/options.h"
#include "graft/host/tokenizer.h"

/* Loads the tokenizer of --model, and prints its notes on stderr unless --quiet is given. The caller frees the result,
 * which is NULL on failure. */
int graft_open_tokenizer(const struct graft_options *options, struct graft_tokenizer **tokenizer,
                         struct graft_error *error);

#endif
