/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins of a run: found in directories, opened, validated and initialised.
 *
 * A plugin's id is known only once its file is open, and opening runs code: with an allow list, the constructors and
 * the entry functions of other plugins run too. These plugins are then closed and never initialised.
 *
 * All functions are [load]; calls from several threads wait for each other. Sets may share plugins: `init` runs for the
 * first set, `deinit` for the last. A plugin that is or was in use is not read from the disk again.
 */
#ifndef GRAFT_PLUGIN_PLUGIN_H
#define GRAFT_PLUGIN_PLUGIN_H

#include <stddef.h>

#include "graft/error.h"
#include "graft/family.h"
#include "graft/host/library.h"
#include "graft/plugin.h"
#include "plugin/family_file.h"
#include "plugin/left_out.h"
#include "plugin/options.h"

struct graft_plugin_ref;

struct graft_loaded_plugin {
    const struct graft_plugin *descriptor; /* validated; owned by the plugin, const until the set is freed */
    char *file; /* the directory as given and the path below it; NULL: registered by a call */
    int rank;   /* 1, 2, ... by the allow list, counted from first_rank; 0 for others */
    struct graft_option_values *values;
    int started;
    struct graft_plugin_ref *use;
    struct graft_plugin_info info; /* the same for users of the library */
};

struct graft_plugin_set {
    /* Ordered by directory, then by file name; family files come after all others. */
    struct graft_loaded_plugin *plugins;
    size_t n;
    char **notes; /* one line each, on files that are not plugins or could not be used */
    size_t n_notes;
    struct graft_left_out *left_out; /* [n_left_out] plugins that the allow list does not name */
    size_t n_left_out;
};

struct graft_plugin_options {
    const char *file;         /* another file, before those of directories, which must be usable; or NULL */
    const char *const *allow; /* ids of the plugins to load; with n_allow 0, all are loaded */
    int n_allow;
    int with_others; /* 1: plugins that `allow` does not name are loaded too, after those it names */
    int first_rank;  /* ranks of `allow` continue after this one */
    int skip_bad;    /* 1: a plugin that cannot be used becomes a note */
    int leave_idle;  /* 1: `init` is not called, as only descriptors are looked at */
    struct graft_given_options given;
    /* [n_others] Sets loaded before: their plugins may offer extensions, and ids of those from files are in use. */
    const struct graft_plugin_set *const *others;
    size_t n_others;
    struct graft_family_finder families; /* the host's, for family files; with functions that are NULL there are none */
    graft_plugin_file_function on_file;  /* or NULL */
    void *on_file_data;
};

/* Loads the plugins of `n` directories (search.h says which files are considered). `options` may be NULL. The caller
 * frees the set. Errors are GRAFT_ERROR_PLUGIN: a directory that cannot be read, a plugin that cannot be used, two
 * plugins with the same id, or an allowed id that was not found. Invalid plugin options are GRAFT_ERROR_USAGE. With an
 * allow list, a file that fails before its id is known becomes a note, unless an id is missing in the end. */
int graft_plugins_load(const char *const *directories, int n, const struct graft_plugin_options *options,
                       struct graft_plugin_set **set, struct graft_error *error);

/* Makes a set of one plugin whose descriptor a program has in memory, where it stays const and valid until the set is
 * freed. It is validated and initialised like one from a file. Errors name the plugin by its id. */
int graft_plugins_take(const struct graft_plugin *descriptor, const struct graft_plugin_set *const *others,
                       size_t n_others, struct graft_plugin_set **set, struct graft_error *error);

/* Calls `deinit` of each plugin that no other set and no other plugin uses, in reverse order. Objects stay mapped.
 * Accepts NULL. */
void graft_plugin_set_free(struct graft_plugin_set *set);

#endif
