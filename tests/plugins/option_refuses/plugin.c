/* SPDX-License-Identifier: Apache-2.0 */
/* Lists a value of its option that it refuses. */
#include <string.h>

#include "graft/args.h"
#include "graft/option.h"

#define INIT start
#define ENTRY
#include "../behaving.h"

static const struct graft_host *behaving_host;

static int start(struct graft_error *error) {
    const char *mode = graft_args_string(behaving_host->options(&behaving_plugin), "mode", "");
    return strcmp(mode, "slow") == 0 ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "behaving", "not yet") : GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const modes[] = {"fast", "slow", NULL};
    static const struct graft_option option = {.struct_size = sizeof option,
                                               .kind = GRAFT_OPTION_STRING,
                                               .name = "mode",
                                               .help = "How it goes",
                                               .default_value = "fast",
                                               .choices = modes};
    (void)error;
    behaving_host = host;
    behaving_plugin.options = &option;
    behaving_plugin.n_options = 1;
    behaving_plugin.option_stride = sizeof option;
    return &behaving_plugin;
}
