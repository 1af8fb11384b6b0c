/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what a tokenizer's class would do with what its tokenizer.json says: some classes of transformers use only
 * the vocabulary of that file. */
#ifndef GRAFT_TOKENIZER_TOKEN_CLASS_COMPARE_H
#define GRAFT_TOKENIZER_TOKEN_CLASS_COMPARE_H

#include "base/text.h"
#include "tokenizer/document.h"
#include "tokenizer/recipe.h"
#include "tokenizer/token_class.h"

/* [load] Appends the names of the components in which the class differs from the file to `parts`, separated by ", ";
 * none if the class uses the file unchanged. `config` is tokenizer_config.json, or NULL. Returns 0, or -1 if memory ran
 * out. */
int graft_token_class_compare(const struct graft_token_class *token_class, const graft_json *config,
                              const struct graft_document *document, struct graft_text *parts);

#endif
