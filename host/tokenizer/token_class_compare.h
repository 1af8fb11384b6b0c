/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a tokenizer's class would cut texts as its tokenizer.json does: some classes of transformers take only the
 * vocabulary of that file.
 */
#ifndef GRAFT_TOKENIZER_TOKEN_CLASS_COMPARE_H
#define GRAFT_TOKENIZER_TOKEN_CLASS_COMPARE_H

#include "base/text.h"
#include "tokenizer/document.h"
#include "tokenizer/recipe.h"
#include "tokenizer/token_class.h"

/* [load] Adds the names of the parts that the class has otherwise to `parts`, with ", " between them; nothing for
 * classes that take the file as it is. `config` is tokenizer_config.json, or NULL. Returns 0, or -1 out of memory. */
int graft_token_class_compare(const struct graft_token_class *token_class, const graft_json *config,
                              const struct graft_document *document, struct graft_text *parts);

#endif
