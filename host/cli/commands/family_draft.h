/* SPDX-License-Identifier: Apache-2.0 */
/* Private: a family file that is being written for a checkpoint, and what a model of it leaves over. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_DRAFT_H
#define GRAFT_CLI_COMMANDS_FAMILY_DRAFT_H

#include "base/json.h"
#include "cli/options.h"

/* What a draft says of one choice, or an alias. */
struct family_edit {
    char *name;        /* "attention.qkv_bias"; of an alias the name that classes ask for */
    graft_json *value; /* of an alias the file's name */
    char *from;        /* the model type that has it; NULL: none */
    char *field;       /* the field of config.json that nobody used without it; NULL: it is about tensors */
};

struct family_edits {
    struct family_edit *items;
    size_t count, capacity;
};

struct family_draft {
    const struct graft_options *options; /* plugins */
    const char *directory;               /* of the checkpoint */
    const graft_json *config;            /* its config.json */
    const char *model_type;
    char *prefix;
    const char *architecture; /* of config.json, where it is not the class that the prefix makes; NULL: it is */
    const char *like;
    int is_data; /* `like` is described by data: "prefix" and "decoder" may be there */
    struct family_edits aliases;
    int without_aliases; /* it is better without these */
    struct family_edits choices;
    graft_json *defaults; /* an object; NULL: none yet */
};

/* What opening the checkpoint with a draft showed. */
struct family_outcome {
    int status;          /* of opening it */
    char message[512];   /* why it could not be opened; "" if it could */
    graft_json *unused;  /* array of {"name", "value"}: fields of config.json */
    graft_json *left;    /* array of names: tensors that no parameter takes */
    graft_json *missing; /* array of names: parameters for which there is nothing that fits */
    graft_json *asked;   /* array of names: fields that classes asked for */
    size_t n_tensors;    /* of the checkpoint */
};

/* Adds an edit; texts and value are copied. An edit of the same name is replaced. */
int family_edits_set(struct family_edits *edits, const char *name, const graft_json *value, const char *from,
                     const char *field, struct graft_error *error);
const struct family_edit *family_edits_find(const struct family_edits *edits, const char *name);
/* Takes the edit of that name out, if there is one. */
void family_edits_remove(struct family_edits *edits, const char *name);
void family_edits_finish(struct family_edits *edits);

/* The draft as a family file: the caller's; NULL if memory ran out. */
graft_json *family_draft_document(const struct family_draft *draft);

/* Opens the checkpoint with the draft as a plugin. That it cannot be opened is an outcome; an error is that it could
 * not be tried. */
int family_draft_try(const struct family_draft *draft, struct family_outcome *outcome, struct graft_error *error);
void family_outcome_finish(struct family_outcome *outcome);

/* The number of unused fields and tensors, by which drafts are compared: smaller is better. INT64_MAX if the draft
 * could not be opened. */
int64_t family_outcome_score(const struct family_outcome *outcome);

#endif
