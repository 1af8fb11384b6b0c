/* SPDX-License-Identifier: Apache-2.0 */
/* Reports implementations that are chosen by name in a model, and those that plugins offer. */
#ifndef GRAFT_CLI_REPORT_IMPLEMENTATIONS_H
#define GRAFT_CLI_REPORT_IMPLEMENTATIONS_H

#include <stdio.h>

#include "cli/commands/inspect.h"

/* A line of the load report if something other than the default was chosen. */
void graft_report_implementations_text(const struct graft_model *model, FILE *out);

/* Prints "; provides attention A, experts B, kernel C (CLASS), logits processor D", or nothing. */
void graft_list_implementations(const struct graft_plugin *plugin, FILE *out);

/* Sets the names that a plugin offers, under the same keys. */
void graft_list_implementations_json(struct graft_writer *writer, graft_json *object,
                                     const struct graft_plugin *plugin);

/* Sets members for all implementations that a plugin declares. */
void graft_inspect_implementations(struct graft_writer *writer, graft_json *object, const struct graft_plugin *plugin);

#endif
