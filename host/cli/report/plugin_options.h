/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the options of plugins with their values. */
#ifndef GRAFT_CLI_REPORT_PLUGIN_OPTIONS_H
#define GRAFT_CLI_REPORT_PLUGIN_OPTIONS_H

#include <stdio.h>

#include "cli/commands/inspect.h"

/* Prints "; options scale=max, bits=8", or nothing. */
void graft_list_options(const struct graft_plugin_info *plugin, FILE *out);

/* Sets `options`: the declaration and value of each option. */
void graft_inspect_options(struct graft_writer *writer, graft_json *object, const struct graft_plugin_info *plugin);

#endif
