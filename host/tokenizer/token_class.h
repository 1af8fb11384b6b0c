/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizer classes of transformers: how each builds a tokenizer from a vocabulary. classes.json lists them:
 *
 * "classes": one object for each pipeline
 *   "names"         of the classes that share the pipeline
 *   "models"        model types for which transformers registers the class
 *   "file"          of the vocabulary
 *   "tokens"        default named special tokens, which tokenizer_config.json overrides: a text, or an object with the
 *                   rule of a token that the file writes as a string
 *   "extra"         special tokens without names, after those of a SentencePiece model
 *   "pieces"        how the vocabulary is made of a SentencePiece model's pieces: "head", then the pieces from number
 *                   "skip" on, then "tail"
 *   "model", "normalizer", "pre_tokenizer", "decoder"   as in tokenizer.json, with placeholders (recipe.h)
 *   "post"          "single" and "pair", each a list of A, B and names of tokens, with type ids; without it, a text
 *                   gets the tokens that add_bos_token and add_eos_token ask for
 *   "post_beside_file"  replaces "post" where there is a tokenizer.json
 *   "again"         "all" or "strings": which special tokens lose their rules at the end
 *   "decoded_suffix"    a suffix that becomes a space in decoded text, which is then trimmed
 *
 * "others": classes that are not supported, with model types
 *
 * "not_as_declared": model types whose files name a class that transformers ignores */
#ifndef GRAFT_TOKENIZER_TOKEN_CLASS_H
#define GRAFT_TOKENIZER_TOKEN_CLASS_H

#include "base/json.h"
#include "graft/error.h"

/* Starts as {0}. */
struct graft_token_class {
    graft_json *document;    /* classes.json */
    const graft_json *entry; /* its entry of "classes"; NULL: the class is not supported */
    char *name;              /* as a file or transformers' registry names it */
};

/* [load] Chooses the class as AutoTokenizer does, from tokenizer_config.json and config.json, either of which may be
 * NULL. Errors are GRAFT_ERROR_INTERNAL. The caller finishes it, even on failure. */
int graft_token_class_choose(struct graft_token_class *chosen, const graft_json *tokenizer_config,
                             const graft_json *config, struct graft_error *error);

/* [any] Whether the class uses tokenizer.json unchanged. */
int graft_token_class_is_plain(const struct graft_token_class *token_class);

/* [any] Whether transformers has the class but the host does not support it: one of "others". */
int graft_token_class_is_other(const struct graft_token_class *token_class);

void graft_token_class_finish(struct graft_token_class *chosen);

#endif
