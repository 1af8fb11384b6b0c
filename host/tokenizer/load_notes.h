/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about differences between a loaded tokenizer.json and what transformers would do. */
#ifndef GRAFT_TOKENIZER_LOAD_NOTES_H
#define GRAFT_TOKENIZER_LOAD_NOTES_H

#include "tokenizer/config_tokens.h"
#include "tokenizer/document.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/token_class.h"

/* [load] Adds a note where the tokenizer's class in transformers would split texts otherwise. */
int graft_load_note_class(struct graft_tokenizer *tokenizer, const struct graft_token_class *token_class,
                          const struct graft_config_tokens *tokens, const struct graft_document *document,
                          struct graft_error *error);

#endif
