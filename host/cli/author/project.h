/* SPDX-License-Identifier: Apache-2.0 */
/* Sources and projects of plugins, made for a class. */
#ifndef GRAFT_CLI_AUTHOR_PROJECT_H
#define GRAFT_CLI_AUTHOR_PROJECT_H

#include "cli/author/author.h"

enum author_language { AUTHOR_C, AUTHOR_CPP, AUTHOR_RUST };

/* A project in the making. */
struct author_project {
    const struct author_subject *subject;
    enum author_language language;
    const char *id;    /* id of the plugin: "acme_mlp" */
    const char *model; /* directory of the model that `make check` runs: as a makefile has it */
    const char *crate; /* directory of the crate, for Rust; else NULL */
    int structs;       /* the source quotes what the interface's header declares */
};

/* Appends the source of a plugin with a class that replaces the chosen one. */
void author_source(struct graft_text *text, const struct author_project *project);

/* Writes the files of the project to the existing folder. Those that were written before one failed are removed. */
int author_project_write(const struct author_project *project, const char *folder, struct graft_error *error);

#endif
