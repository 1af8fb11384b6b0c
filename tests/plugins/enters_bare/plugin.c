/* SPDX-License-Identifier: Apache-2.0 */
/* It takes an extension for granted. */
#define ENTRY
#include "../behaving.h"
#include "graft/log.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    const struct graft_log *log = host->get_extension(GRAFT_LOG_ID);
    (void)error;
    log->line("behaving", "here I am");
    return &behaving_plugin;
}
