/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts of family files for `family new`, and what remains unused when a checkpoint is opened with one. Private to
 * `family`. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_DRAFT_H
#define GRAFT_CLI_COMMANDS_FAMILY_DRAFT_H

#include "base/json.h"
#include "cli/options.h"

/* A choice that a draft sets, or an alias. */
struct family_edit {
    char *name; /* name of a choice, such as "attention.qkv_bias"; for an alias, of the field that classes read */
    graft_json *value; /* for an alias: the field's name in config.json */
    char *from;        /* the model type whose family makes this choice; NULL: none */
    char *field;       /* the field of config.json that was unused without it; NULL: chosen for the tensors */
};

struct family_edits {
    struct family_edit *items;
    size_t count, capacity;
};

struct family_draft {
    const struct graft_options *options; /* the command line, which names the plugins to load */
    const char *directory;               /* directory of the checkpoint */
    const graft_json *config;            /* its config.json */
    const char *model_type;
    char *prefix;
    const char *architecture; /* the architecture in config.json, if it isn't prefix + "ForCausalLM"; else NULL */
    const char *like;
    int is_data; /* the family `like` is a family file, so the draft may have "prefix" and "decoder" */
    struct family_edits aliases;
    int without_aliases; /* the aliases are left out, as less is left over without them */
    struct family_edits choices;
    graft_json *defaults; /* an object: defaults of fields; NULL: none yet */
};

/* The result of opening the checkpoint with a draft. */
struct family_outcome {
    int status;          /* of graft_model_open */
    char message[512];   /* why it could not be opened; "" if it could */
    graft_json *unused;  /* array of {"name", "value"}: unused fields of config.json */
    graft_json *left;    /* array of names: tensors that no parameter uses */
    graft_json *missing; /* array of names: parameters without a tensor that fits */
    graft_json *asked;   /* array of names: fields that classes read */
    size_t n_tensors;    /* tensors in the checkpoint */
};

/* Adds an edit, or replaces that of the same name. Copies the texts and the value. */
int family_edits_set(struct family_edits *edits, const char *name, const graft_json *value, const char *from,
                     const char *field, struct graft_error *error);
const struct family_edit *family_edits_find(const struct family_edits *edits, const char *name);
/* Removes the edit of that name, if there is one. */
void family_edits_remove(struct family_edits *edits, const char *name);
void family_edits_finish(struct family_edits *edits);

/* The draft as a family file. The caller frees it; NULL if memory ran out. */
graft_json *family_draft_document(const struct family_draft *draft);

/* Opens the checkpoint with the draft as a plugin. If the model cannot be opened, `outcome` says why; an error means
 * that the draft could not be tried. */
int family_draft_try(const struct family_draft *draft, struct family_outcome *outcome, struct graft_error *error);
void family_outcome_finish(struct family_outcome *outcome);

/* The number of unused fields and tensors, by which drafts are compared: smaller is better. INT64_MAX if the draft
 * could not be opened. */
int64_t family_outcome_score(const struct family_outcome *outcome);

#endif
