/* SPDX-License-Identifier: Apache-2.0 */
/* Private: the parts of `family`. */
#ifndef GRAFT_CLI_COMMANDS_FAMILY_H
#define GRAFT_CLI_COMMANDS_FAMILY_H

#include "cli/options.h"

/* `family choices`: what a family file may say of a model, as tables in Markdown; with --json as the schemas of its
 * member "decoder". */
int graft_family_choices(const struct graft_options *options, struct graft_error *error);

/* `family new`: a family file for a checkpoint whose model type nobody knows. */
int graft_family_new(const struct graft_options *options, struct graft_error *error);

#endif
