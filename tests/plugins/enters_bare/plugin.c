/* SPDX-License-Identifier: Apache-2.0 */
/* Assumes that an optional extension exists. */
#define ENTRY
#include "../behaving.h"
#include "graft/log.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    const struct graft_log *log = host->get_extension(GRAFT_LOG_ID);
    (void)error;
    log->line("behaving", "here I am");
    return &behaving_plugin;
}
