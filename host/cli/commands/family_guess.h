/* SPDX-License-Identifier: Apache-2.0 */
/* Private: what a draft may say so that less is left over. Nothing is known of any one model here: what is tried are
 * the choices that the library's own families make. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_GUESS_H
#define GRAFT_CLI_COMMANDS_FAMILY_GUESS_H

#include "cli/commands/family_draft.h"
#include "graft/host/graft.h"

/* A choice as one of the library's families makes it. */
struct family_known_choice {
    char *name;        /* "attention.scale" */
    graft_json *value; /* "attention_multiplier" */
    char *from;        /* the first family that has it */
};

struct family_known {
    struct family_known_choice *items; /* each pair of name and value once, none of "class" */
    size_t count, capacity;
    graft_json *documents; /* model types, each with its family file */
};

int family_known_read(struct graft_library *library, struct family_known *known, struct graft_error *error);
void family_known_finish(struct family_known *known);

/* Whether an expression mentions a field. */
int family_mentions(const graft_json *value, const char *field);

/* The default of a field in the family file of a model type, or of what that is like; NULL: none. */
const graft_json *family_known_default(const struct family_known *known, const char *model_type, const char *field);

/* Other names of fields that every decoder asks for, where config.json has those. */
int family_guess_aliases(struct family_draft *draft, struct graft_error *error);

/* Fields that nobody used, of which all families make the same; then whatever makes tensors fit. `outcome` is that of
 * the draft, before and after. */
int family_guess_choices(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                         struct graft_error *error);

#endif
