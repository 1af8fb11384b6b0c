/* SPDX-License-Identifier: Apache-2.0 */
/* Values of plugins' options (graft/option.h). All functions are [any]. */
#ifndef GRAFT_PLUGIN_OPTIONS_H
#define GRAFT_PLUGIN_OPTIONS_H

#include "base/args.h"
#include "graft/error.h"
#include "graft/option.h"
#include "graft/plugin.h"

/* What users write: "ID.NAME=VALUE". */
struct graft_given_options {
    const char *const *texts;
    int n;
};

/* A value for each option of a plugin, in its order. Const once made. */
struct graft_option_values {
    struct graft_args args; /* as the plugin is given them */
    char **texts;           /* as they are written here, so that equal values are equal texts; NULL after the last */
    int users;
};

/* Whether `text` is a value of `option`. Errors are GRAFT_ERROR_USAGE, and say what was expected and found. */
int graft_option_check(const struct graft_option *option, const char *text, struct graft_error *error);

/* Whether each of `given` is for an option of one of the `n` plugins, and there once. Errors are GRAFT_ERROR_USAGE. */
int graft_given_options_check(const struct graft_given_options *given, const struct graft_plugin *const *plugins,
                              size_t n, struct graft_error *error);

/* Those of a validated plugin: what is given, and its defaults. Errors are GRAFT_ERROR_USAGE. The caller releases them.
 */
int graft_option_values_create(const struct graft_plugin *plugin, const struct graft_given_options *given,
                               struct graft_option_values **values, struct graft_error *error);

/* Not guarded: whoever shares values has a lock. Releasing takes NULL. */
struct graft_option_values *graft_option_values_retain(struct graft_option_values *values);
void graft_option_values_release(struct graft_option_values *values);

#endif
