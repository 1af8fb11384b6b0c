/* SPDX-License-Identifier: Apache-2.0 */
/* Structured output: text that conforms to a JSON schema or a grammar, because tokens that do not fit are never chosen
 * (docs/structured.md).
 *
 *     struct graft_vocabulary *vocabulary;
 *     struct graft_grammar *grammar;
 *     struct graft_processor_choice choice;
 *     const struct graft_grammar_text text = {sizeof text, GRAFT_GRAMMAR_JSON_SCHEMA, json, strlen(json), "schema"};
 *     graft_vocabulary_create(tokenizer, &vocabulary, &error);
 *     graft_model_choose_grammar(model, vocabulary, &text, &grammar, &choice, &error);
 *     generation.processors = &choice; // for any number of sequences, each of which has its own state
 *     generation.n_processors = 1;
 *     ...
 *     graft_grammar_close(grammar);
 *     graft_vocabulary_free(vocabulary);
 *
 * Schemas and grammars may be untrusted: their size, and the time and memory that they take, are bounded. */
#ifndef GRAFT_HOST_GRAMMAR_H
#define GRAFT_HOST_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_logits_processor;
struct graft_model;
struct graft_processor_choice;
struct graft_tokenizer;

/* The texts of a model's tokens, and the grammars that were compiled for them. Several threads may use it. */
struct graft_vocabulary;

/* [load] The tokenizer is not needed afterwards. The caller frees the result, which is NULL on failure. */
int graft_vocabulary_create(const struct graft_tokenizer *tokenizer, struct graft_vocabulary **vocabulary,
                            struct graft_error *error);

/* [load] Frees it and its grammars, which no sequence may use any more. Accepts NULL. */
void graft_vocabulary_free(struct graft_vocabulary *vocabulary);

enum {
    GRAFT_GRAMMAR_JSON_SCHEMA = 1, /* draft 2020-12, JSON */
    GRAFT_GRAMMAR_GBNF = 2         /* rules, beginning with `root` */
};

struct graft_grammar_text {
    uint32_t struct_size;
    int32_t kind;       /* GRAFT_GRAMMAR_... */
    const char *text;   /* [length] UTF-8, followed by a NUL; at most 4 MiB */
    size_t length;      /* bytes */
    const char *source; /* names it in errors: a file, an option */
};

#define GRAFT_GRAMMAR_TEXT_SIZE_1_0 GRAFT_END_OF(struct graft_grammar_text, source)

/* A grammar for the tokens of a vocabulary. Several threads may use it. */
struct graft_grammar;

/* [any] Compiles a grammar, or finds the one that was compiled from the same text before: the last 32 that were closed
 * are cached. A text that is malformed or not supported is GRAFT_ERROR_USAGE, and the message says where. The caller
 * closes `*grammar`, which is NULL on failure, before the vocabulary is freed. */
int graft_grammar_open(struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text,
                       struct graft_grammar **grammar, struct graft_error *error);

/* [any] Closes what was opened, once no sequence of the caller uses it any more. Accepts NULL. */
void graft_grammar_close(struct graft_grammar *grammar);

/* [any] Whether a complete text fits: 1 or 0; -1 if that cannot be found out, for instance because memory ran out. */
int graft_grammar_fits(struct graft_grammar *grammar, const char *text, size_t length);

/* [any] The logits processor that restricts a sequence to a grammar, which is its `data` (struct
 * graft_processor_choice). It forbids tokens that do not fit the text after the prompt. Ids that end the sequence fit
 * where the text may end, and only they fit where it must. If other settings leave no token that fits, that is
 * GRAFT_ERROR_USAGE. */
const struct graft_logits_processor *graft_grammar_processor(void);

/* [load] Chooses how sequences of a model are restricted to a grammar. If a plugin of the model offers a logits
 * processor named `json_schema` or `gbnf`, that is chosen with the text as its setting: `*grammar` is NULL, and the
 * caller keeps the text until the sequences were added. Otherwise it is the processor above, with a grammar that the
 * caller closes once the sequences have ended. */
int graft_model_choose_grammar(struct graft_model *model, struct graft_vocabulary *vocabulary,
                               const struct graft_grammar_text *text, struct graft_grammar **grammar,
                               struct graft_processor_choice *choice, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
