/* SPDX-License-Identifier: Apache-2.0 */
/* The options of plugins, and the values in force. */
#ifndef GRAFT_CLI_REPORT_PLUGIN_OPTIONS_H
#define GRAFT_CLI_REPORT_PLUGIN_OPTIONS_H

#include <stdio.h>

#include "cli/commands/inspect.h"

/* Prints "; options scale=max, bits=8", or nothing. */
void graft_list_options(const struct graft_plugin_info *plugin, FILE *out);

/* Sets `options`: all that each declares, and its value. */
void graft_inspect_options(struct graft_writer *writer, graft_json *object, const struct graft_plugin_info *plugin);

#endif
