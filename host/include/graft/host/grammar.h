/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structured output: text that fits a JSON schema or a grammar, because no other token is left to choose
 * (docs/structured.md).
 *
 *     struct graft_vocabulary *vocabulary;
 *     struct graft_grammar *grammar;
 *     struct graft_processor_choice choice;
 *     const struct graft_grammar_text text = {sizeof text, GRAFT_GRAMMAR_JSON_SCHEMA, json, strlen(json), "schema"};
 *     graft_vocabulary_create(tokenizer, &vocabulary, &error);
 *     graft_model_choose_grammar(model, vocabulary, &text, &grammar, &choice, &error);
 *     generation.processors = &choice; // of as many sequences as are wanted, each with a state of its own
 *     generation.n_processors = 1;
 *     ...
 *     graft_grammar_close(grammar);
 *     graft_vocabulary_free(vocabulary);
 *
 * A schema or grammar may be anybody's: its size, and the time and memory that it takes, are bounded.
 */
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

/* What a model's tokens stand for, and the grammars that were made for them. Several threads may use it. */
struct graft_vocabulary;

/* [load] The tokenizer is not needed afterwards. The caller frees the result, which is NULL on failure. */
int graft_vocabulary_create(const struct graft_tokenizer *tokenizer, struct graft_vocabulary **vocabulary,
                            struct graft_error *error);

/* [load] Frees it with its grammars, which no sequence uses any more. Accepts NULL. */
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

/* [any] Makes a grammar, or finds the one that was made of the same text before: those that are closed are kept, the
 * last 32 of them. What is not supported or wrong is GRAFT_ERROR_USAGE, and says where. `*grammar`, NULL on failure, is
 * the caller's to close, and ends with the vocabulary. */
int graft_grammar_open(struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text,
                       struct graft_grammar **grammar, struct graft_error *error);

/* [any] No sequence uses it any more by way of this caller. Accepts NULL. */
void graft_grammar_close(struct graft_grammar *grammar);

/* [any] Whether the whole text fits: 1 or 0; -1 if memory ran out. */
int graft_grammar_fits(struct graft_grammar *grammar, const char *text, size_t length);

/* [any] The logits processor that keeps a sequence in a grammar, which is its `data` (struct graft_processor_choice).
 * It forbids what does not fit behind the prompt; where the text may end, ids that end the sequence fit, and where it
 * must, only these. If the other settings leave nothing that fits, that is GRAFT_ERROR_USAGE. */
const struct graft_logits_processor *graft_grammar_processor(void);

/* [load] How to keep sequences of a model in a grammar: by a logits processor that one of its plugins offers under the
 * name `json_schema` or `gbnf`, whose setting is then the text, which the caller keeps as long as the sequences, and
 * `*grammar` NULL; or else by the one above, with a grammar that the caller closes behind them. */
int graft_model_choose_grammar(struct graft_model *model, struct graft_vocabulary *vocabulary,
                               const struct graft_grammar_text *text, struct graft_grammar **grammar,
                               struct graft_processor_choice *choice, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
