/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process if its option is negative. */
#include <stdlib.h>

#include "graft/args.h"
#include "graft/option.h"

#define INIT start
#define ENTRY
#include "../behaving.h"

static const struct graft_host *behaving_host;

static int start(struct graft_error *error) {
    int64_t number = graft_args_int(behaving_host->options(&behaving_plugin), "number", 1);
    (void)error;
    if (number < 0) {
        abort();
    }
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const struct graft_option option = {.struct_size = sizeof option,
                                               .kind = GRAFT_OPTION_INT,
                                               .name = "number",
                                               .help = "How many",
                                               .default_value = "1"};
    (void)error;
    behaving_host = host;
    behaving_plugin.options = &option;
    behaving_plugin.n_options = 1;
    behaving_plugin.option_stride = sizeof option;
    return &behaving_plugin;
}
