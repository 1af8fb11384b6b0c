/* SPDX-License-Identifier: Apache-2.0 */
/* The commands by name. */
#ifndef GRAFT_CLI_COMMAND_NAME_H
#define GRAFT_CLI_COMMAND_NAME_H

#include "cli/options.h"

/* Finds the command of that name. Returns 1; 0 if there is none. */
int graft_command_find(const char *name, enum graft_command *command);

/* The name of a command: "plan". */
const char *graft_command_name(enum graft_command command);

/* Sets the error for a word that is no command, with those that differ in few letters. Returns GRAFT_ERROR_USAGE. */
int graft_command_unknown(const char *word, struct graft_error *error);

#endif
