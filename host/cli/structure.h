/* SPDX-License-Identifier: Apache-2.0 */
/* --json-schema and --grammar: restricts generated text to a schema or grammar. */
#ifndef GRAFT_CLI_STRUCTURE_H
#define GRAFT_CLI_STRUCTURE_H

#include "cli/options.h"
#include "graft/host/generate.h"
#include "graft/host/grammar.h"

struct graft_model;
struct graft_tokenizer;

/* Starts as {0}. */
struct graft_structure {
    struct graft_vocabulary *vocabulary;
    struct graft_grammar *grammar;
    char *text;
    struct graft_processor_choice choice;
};

int graft_structure_is_given(const struct graft_options *options);

/* Reads the schema or grammar, if one is given, and sets the logits processor that enforces it in `generation`, which
 * must not outlive `structure`. Without a tokenizer nothing is set, as rank 0 chooses the tokens. */
int graft_structure_open(const struct graft_options *options, struct graft_model *model,
                         const struct graft_tokenizer *tokenizer, struct graft_generation *generation,
                         struct graft_structure *structure, struct graft_error *error);
void graft_structure_close(struct graft_structure *structure);

#endif
