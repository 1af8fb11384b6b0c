/* SPDX-License-Identifier: Apache-2.0 */
/* What is worth knowing about a tokenizer.json that was loaded. */
#ifndef GRAFT_TOKENIZER_LOAD_NOTES_H
#define GRAFT_TOKENIZER_LOAD_NOTES_H

#include "tokenizer/config_tokens.h"
#include "tokenizer/document.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/token_class.h"

/* [load] Adds a note where transformers would cut texts otherwise, by the class of the tokenizer. */
int graft_load_note_class(struct graft_tokenizer *tokenizer, const struct graft_token_class *token_class,
                          const struct graft_config_tokens *tokens, const struct graft_document *document,
                          struct graft_error *error);

#endif
