/* SPDX-License-Identifier: Apache-2.0 */
/* Values of plugin options (graft/option.h). All functions are [any]. */
#ifndef GRAFT_PLUGIN_OPTIONS_H
#define GRAFT_PLUGIN_OPTIONS_H

#include "base/args.h"
#include "graft/error.h"
#include "graft/option.h"
#include "graft/plugin.h"

/* Options as the user gives them: "ID.NAME=VALUE". */
struct graft_given_options {
    const char *const *texts;
    int n;
};

/* The values of all options of a plugin, in its order. Const once made. */
struct graft_option_values {
    struct graft_args args; /* the values as passed to the plugin */
    char **texts;           /* the values in normalised text, so that equal values are equal texts; NULL-terminated */
    int users;
};

/* Checks that `text` is a valid value of `option`. Errors are GRAFT_ERROR_USAGE, and say what was expected and
 * found. */
int graft_option_check(const struct graft_option *option, const char *text, struct graft_error *error);

/* Checks that each of `given` is for an option of one of the `n` plugins, and occurs once. Errors are
 * GRAFT_ERROR_USAGE. */
int graft_given_options_check(const struct graft_given_options *given, const struct graft_plugin *const *plugins,
                              size_t n, struct graft_error *error);

/* Makes the values of a validated plugin from the given ones and its defaults. Errors are GRAFT_ERROR_USAGE. The caller
 * releases the values. */
int graft_option_values_create(const struct graft_plugin *plugin, const struct graft_given_options *given,
                               struct graft_option_values **values, struct graft_error *error);

/* Not thread-safe: callers that share values hold a lock. Releasing accepts NULL. */
struct graft_option_values *graft_option_values_retain(struct graft_option_values *values);
void graft_option_values_release(struct graft_option_values *values);

#endif
