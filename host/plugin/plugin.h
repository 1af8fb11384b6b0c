/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins of one run: found in directories, opened, validated and initialised.
 *
 * To know a plugin's id its file has to be opened, and opening runs code: with an allow list, the constructors and the
 * entry function of the others run too. They are closed then, and never initialised.
 *
 * All functions are [load]; calls from several threads wait for each other. Sets may share plugins: `init` and
 * `deinit` run once, for the first set and the last. A plugin in use, or used before, is not read again from the disk.
 */
#ifndef GRAFT_PLUGIN_PLUGIN_H
#define GRAFT_PLUGIN_PLUGIN_H

#include <stddef.h>

#include "graft/error.h"
#include "graft/family.h"
#include "graft/host/library.h"
#include "graft/plugin.h"
#include "plugin/options.h"

struct graft_use;

struct graft_loaded_plugin {
    const struct graft_plugin *descriptor; /* validated; the plugin's, const until the set is freed */
    char *file; /* as found: the directory as given, and the path below it; NULL: registered by a call */
    int rank;   /* 1, 2, ... by the allow list, behind first_rank; 0 without one */
    struct graft_option_values *values;
    int started;
    struct graft_use *use;
    struct graft_plugin_info info; /* the same, as the library shows it */
};

struct graft_plugin_set {
    /* In the order of the directories, then of the file names; family files behind all others. */
    struct graft_loaded_plugin *plugins;
    size_t n;
    char **notes; /* one line each: files that are no plugins, or could not be used */
    size_t n_notes;
};

struct graft_plugin_options {
    const char *file;         /* one more, before those of directories, which has to be usable; or NULL */
    const char *const *allow; /* ids; all others stay out. With n_allow 0 every plugin is wanted */
    int n_allow;
    int with_others; /* ids that `allow` does not name are wanted too, behind those it names */
    int first_rank; /* the ranks of the allow list go on from here */
    int skip_bad;   /* a plugin that cannot be used becomes a note */
    int leave_idle; /* `init` is not called: for looking at descriptors only */
    struct graft_given_options given;
    /* [n_others] Started before: they may offer extensions, and the ids of those from files are taken. */
    const struct graft_plugin_set *const *others;
    size_t n_others;
    /* Returns the host's families, NULL-terminated, which family files may be like. Called only if there is a family
     * file; NULL: the host has none. */
    int (*families)(void *data, const struct graft_family *const **found, struct graft_error *error);
    void *families_data;
    graft_plugin_file_function on_file; /* or NULL */
    void *on_file_data;
};

/* Loads the plugins of `n` directories (search.h says which files are looked at). `options` may be NULL. The caller
 * frees the set. Errors are GRAFT_ERROR_PLUGIN: a directory that cannot be read, a plugin that cannot be used, two of
 * one id, an allowed id that is not there. What is given for options and does not fit is a GRAFT_ERROR_USAGE. With an
 * allow list, a file that cannot be used before its id is known is a note too, unless an id is missing. */
int graft_plugins_load(const char *const *directories, int n, const struct graft_plugin_options *options,
                       struct graft_plugin_set **set, struct graft_error *error);

/* A set of one plugin, `others` as above, whose descriptor a program has in memory, where it stays const and valid
 * until the set is freed. It is validated and initialised as one from a file. Errors name the plugin by its id. */
int graft_plugins_take(const struct graft_plugin *descriptor, const struct graft_plugin_set *const *others,
                       size_t n_others, struct graft_plugin_set **set, struct graft_error *error);

/* Calls `deinit` of each plugin that no other set and no other plugin uses, the last one first. The objects stay
 * mapped. Accepts NULL. */
void graft_plugin_set_free(struct graft_plugin_set *set);

#endif
