/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `family`. Private to it. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_H
#define GRAFT_CLI_COMMANDS_FAMILY_H

#include "cli/options.h"

/* `family choices`: prints the choices of family files as tables in Markdown, or with --json as JSON schemas of the
 * members that have choices, such as "decoder". */
int graft_family_choices(const struct graft_options *options, struct graft_error *error);

/* `family new`: drafts a family file for a checkpoint of an unknown model type. */
int graft_family_new(const struct graft_options *options, struct graft_error *error);

#endif
