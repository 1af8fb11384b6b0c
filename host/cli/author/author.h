/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by `new plugin` and `inspect --c`: describes a class for plugin authors, and writes source files from
 * templates. */
#ifndef GRAFT_CLI_AUTHOR_AUTHOR_H
#define GRAFT_CLI_AUTHOR_AUTHOR_H

#include "base/text.h"
#include "cli/author/sdk_texts.h"
#include "cli/options.h"
#include "graft/host/graft.h"

/* A class that is to be replaced, and a module that has it. */
struct author_subject {
    const struct graft_class *cls;
    const struct sdk_interface *interface;
    struct graft_model *model;               /* the given one or a tiny one, without weights; author_subject_finish */
    const struct graft_named_module *module; /* its first module of the class */
    char *where;                             /* the module and the model, for a reader */
};

/* Finds the class options->subject... in `library`, and a module: in the model of --model or, without that option, in a
 * tiny one, which is left in the new directory `tiny`. */
int author_subject_find(const struct graft_options *options, struct graft_library *library, const char *class_name,
                        const char *tiny, struct author_subject *subject, struct graft_error *error);
void author_subject_finish(struct author_subject *subject);

/* How a line of a comment begins. */
enum author_comment { AUTHOR_COMMENT_C, AUTHOR_COMMENT_RUST };

/* Adds a comment on the class, without a line end after it: its interface, and what the module was given and consists
 * of. With `structs`, what the interface's header declares as well. */
void author_about(struct graft_text *text, const struct author_subject *subject, enum author_comment comment,
                  int structs);

/* A word of templates and its replacement. */
struct author_word {
    const char *name; /* NULL ends the list */
    const char *value;
};

/* Adds a template's text, with its words replaced. */
void author_expand(struct graft_text *text, const char *template_name, const struct author_word *words);

/* The template of a class's source: that of an MLP with a gate, which computes, or one that calls the original. */
int author_is_gated_mlp(const struct author_subject *subject);

/* Whether a class of the interface can be written in Rust without `unsafe`; then `*trait` is its trait's name. */
int author_rust_trait(const struct sdk_interface *interface, const char **trait);

/* Adds "AcmeMlp" for "acme_mlp". */
void author_class_name(struct graft_text *text, const char *id);

#endif
