/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family file, NAME.family.json (docs/family.md): a model family that is described by data, or is another one under
 * other names, as the descriptor of a plugin NAME that brings nothing else. All functions are [any].
 */
#ifndef GRAFT_PLUGIN_FAMILY_FILE_H
#define GRAFT_PLUGIN_FAMILY_FILE_H

#include "base/json.h"
#include "graft/family.h"
#include "graft/plugin.h"

struct graft_family_file;

/* Whether a file's name says that it is one. */
int graft_family_file_is(const char *path);

/* Reads and checks one. `families`, NULL-terminated, are those that it may be like, whose classes it may derive others
 * from. What they point to has to live as long as the result. Errors are GRAFT_ERROR_PLUGIN and name file and field. */
int graft_family_file_read(const char *path, const struct graft_family *const *families,
                           struct graft_family_file **file, struct graft_error *error);

/* The same for a document that was read, which is taken, also on failure. */
int graft_family_file_take(graft_json *document_take, const char *path, const struct graft_family *const *families,
                           struct graft_family_file **file, struct graft_error *error);

/* Lives as long as the file. */
const struct graft_plugin *graft_family_file_plugin(const struct graft_family_file *file);

/* The one of `families` that it is like; NULL: none. */
const struct graft_family *graft_family_file_like(const struct graft_family_file *file);

/* Accepts NULL. */
void graft_family_file_free(struct graft_family_file *file);

#endif
