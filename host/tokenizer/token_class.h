/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokenizer classes of transformers: what each of them makes of a vocabulary. classes.json lists them:
 *
 *     "classes": one object for each pipeline
 *         "names"            of the classes that have it
 *         "models"           model types for which transformers has it on record
 *         "file"             of the vocabulary
 *         "tokens"           named special tokens that it has unless tokenizer_config.json says otherwise: a text, or
 *                            an object whose rule is that of a token that the file writes as a string
 *         "extra"            special tokens without names, after those of a SentencePiece model
 *         "pieces"           how pieces of a SentencePiece model become the vocabulary: "head", then those from number
 *                            "skip" on, then "tail"
 *         "model", "normalizer", "pre_tokenizer", "decoder"   as in tokenizer.json, with places (recipe.h)
 *         "post"             "single" and "pair", each a list of A, B and names of tokens, with type ids; without it,
 *                            a text gets the tokens that add_bos_token and add_eos_token ask for
 *         "post_beside_file" the same, where it is another beside a tokenizer.json
 *         "again"            "all" or "strings": which special tokens lose their rules at the end
 *         "decoded_suffix"   what becomes a space in decoded text, which is then trimmed
 *     "others": classes that are not read, with model types
 *     "not_as_declared": model types whose files name a class that transformers does not believe
 */
#ifndef GRAFT_TOKENIZER_TOKEN_CLASS_H
#define GRAFT_TOKENIZER_TOKEN_CLASS_H

#include "base/json.h"
#include "graft/error.h"

/* Starts as {0}. */
struct graft_token_class {
    graft_json *document;    /* classes.json */
    const graft_json *entry; /* of "classes"; NULL: the class is not read */
    char *name;              /* as a file or the record has it */
};

/* [load] Chooses the class as AutoTokenizer does, by tokenizer_config.json and config.json, of which either may be
 * NULL. Errors are GRAFT_ERROR_INTERNAL. To be finished on failure too. */
int graft_token_class_choose(struct graft_token_class *chosen, const graft_json *tokenizer_config,
                             const graft_json *config, struct graft_error *error);

/* [any] Whether it is the class that takes tokenizer.json as it is. */
int graft_token_class_is_plain(const struct graft_token_class *token_class);

/* [any] Whether it is one of "others": transformers has it, and it is not read. */
int graft_token_class_is_other(const struct graft_token_class *token_class);

void graft_token_class_finish(struct graft_token_class *chosen);

#endif
