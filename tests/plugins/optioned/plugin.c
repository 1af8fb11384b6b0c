/* SPDX-License-Identifier: Apache-2.0 */
/* Has an option of each kind. Its extensions report the options as read in `init` and in `deinit`: "max 8 0.5 1". */
#include "../parts.h"

#include <stdio.h>
#include <string.h>

#include "graft/option.h"

static const char *const scales[] = {"max", "mse", NULL};

static const struct graft_option options[] = {
    {sizeof options[0], GRAFT_OPTION_STRING, "scale", "How scales are found", "max", scales},
    {sizeof options[0], GRAFT_OPTION_INT, "bits", "Of a weight", "8", NULL},
    {sizeof options[0], GRAFT_OPTION_REAL, "share", "Of the largest weight", "0.50", NULL},
    {sizeof options[0], GRAFT_OPTION_BOOL, "bias", "Whether there is one", "true", NULL},
};

static struct graft_plugin plugin;
static const struct graft_host *host;
static char started[256], stopped[256];

static void read_options(char *text) {
    const struct graft_args *args = host->options(&plugin);
    (void)snprintf(text, sizeof started, "%s %d %g %d", graft_args_string(args, "scale", "?"),
                   (int)graft_args_int(args, "bits", -1), graft_args_real(args, "share", -1.0),
                   (int)graft_args_int(args, "bias", -1));
}

static int start(struct graft_error *error) {
    (void)error;
    read_options(started);
    return strcmp(started, "max 13 0.5 1") == 0 ? GRAFT_ERROR_PLUGIN : GRAFT_OK;
}

static void stop(void) {
    read_options(stopped);
}

static const void *extension(const char *id) {
    return strcmp(id, "test.started/1") == 0 ? started : strcmp(id, "test.stopped/1") == 0 ? stopped : NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    plugin = good_plugin("acme.optioned", NULL, 0);
    plugin.options = options;
    plugin.n_options = 4;
    plugin.option_stride = sizeof options[0];
    plugin.init = start;
    plugin.deinit = stop;
    plugin.get_extension = extension;
    return &plugin;
}
