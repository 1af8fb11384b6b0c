/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses aliases and choices that leave fewer fields and tensors of a checkpoint unused. The candidates are the
 * choices that built-in families make; nothing here is about a particular model. Private to `family`. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_GUESS_H
#define GRAFT_CLI_COMMANDS_FAMILY_GUESS_H

#include "cli/commands/family_draft.h"
#include "graft/host/graft.h"

/* A choice that a built-in family makes. */
struct family_known_choice {
    char *name;        /* "attention.scale" */
    graft_json *value; /* "attention_multiplier" */
    char *from;        /* the first family that makes it */
};

struct family_known {
    struct family_known_choice *items; /* each pair of name and value once, without section "class" */
    size_t count, capacity;
    graft_json *documents; /* an object: model type to family file */
};

int family_known_read(struct graft_library *library, struct family_known *known, struct graft_error *error);
void family_known_finish(struct family_known *known);

/* Whether an expression mentions a field. */
int family_mentions(const graft_json *value, const char *field);

/* The default of a field in the family file of a model type, or in that of its "like"; NULL: none. */
const graft_json *family_known_default(const struct family_known *known, const char *model_type, const char *field);

/* Adds aliases for the fields that every decoder reads, if config.json has them under another known name. */
int family_guess_aliases(struct family_draft *draft, struct graft_error *error);

/* Adds choices: for unused fields, those on which all families with the field agree; then any that make tensors fit.
 * `outcome` is that of the draft, and is kept up to date. */
int family_guess_choices(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                         struct graft_error *error);

#endif
