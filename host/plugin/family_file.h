/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family file, NAME.family.json (docs/family.md), describes a model family by data, or as another family with other
 * names. It is turned into the descriptor of a plugin NAME with nothing else. All functions are [any].
 */
#ifndef GRAFT_PLUGIN_FAMILY_FILE_H
#define GRAFT_PLUGIN_FAMILY_FILE_H

#include "base/json.h"
#include "graft/family.h"
#include "graft/plugin.h"

struct graft_nearest;

/* Finds the families that a family file may be like, and the classes from which it may derive others, by name: only
 * what a file asks for has to be read. What is found has to outlive the file. `*found` is NULL if there is none. */
struct graft_family_finder {
    void *data;
    int (*find_family)(void *data, const char *model_type, const struct graft_family **found,
                       struct graft_error *error);
    int (*find_class)(void *data, const char *name, const struct graft_class **found, struct graft_error *error);
    void (*name_all)(void *data, struct graft_nearest *nearest); /* adds the model type of each family */
};

struct graft_family_file;

/* The class of that name among those that a family lists; NULL if there is none. */
const struct graft_class *graft_family_find_class(const struct graft_family *family, const char *name);

/* Whether a file's name is that of a family file. */
int graft_family_file_is(const char *path);

/* Reads and checks a family file. Errors are GRAFT_ERROR_PLUGIN and name file and field. */
int graft_family_file_read(const char *path, const struct graft_family_finder *finder, struct graft_family_file **file,
                           struct graft_error *error);

/* Checks a parsed document like graft_family_file_read. The document is consumed, even on failure. */
int graft_family_file_take(graft_json *document_take, const char *path, const struct graft_family_finder *finder,
                           struct graft_family_file **file, struct graft_error *error);

/* The descriptor, which lives as long as the file. */
const struct graft_plugin *graft_family_file_plugin(const struct graft_family_file *file);

/* The family that the file is like; NULL if there is none. */
const struct graft_family *graft_family_file_like(const struct graft_family_file *file);

/* Accepts NULL. */
void graft_family_file_free(struct graft_family_file *file);

#endif
