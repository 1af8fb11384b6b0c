/* SPDX-License-Identifier: Apache-2.0 */
/* The name by which the program was called, and the places of its installed files. */
#ifndef GRAFT_CLI_PROGRAM_H
#define GRAFT_CLI_PROGRAM_H

#include "graft/error.h"

/* Sets the program's name to the last part of the path `argv0`, which must stay valid; "graft" if it is NULL or
 * empty. */
void graft_program_set_name(const char *argv0);

/* The program's name, for usage, errors and hints. */
const char *graft_program_name(void);

/* Ignores SIGXFSZ and SIGPIPE, so that a write beyond a limit on file sizes, or to a closed pipe, fails like one to a
 * full disk: partial output is removed and an error is reported. With `is_one_of_several`, SIGPIPE is left as it is:
 * only one of the processes that run a model reports why they end, and the others die when their connections close. */
void graft_program_ignore_signals(int is_one_of_several);

/* The path of the program's file. The caller frees it with graft_free. */
int graft_program_path(char **path, struct graft_error *error);

/* The folder of `--plugins-dir default`: the first that exists of that below the prefix where the program is installed
 * now, that next to the program, and the configured one. The caller frees it with graft_free. It is an error if none
 * exists. */
int graft_program_plugins_dir(char **directory, struct graft_error *error);

/* The path of the script that converts weights to safetensors, found in the same way; NULL if it is not installed. The
 * caller frees it with graft_free. */
char *graft_program_converter(void);

/* Finds the script that compares a model with transformers, in the same way. */
char *graft_program_comparer(void);

/* The folder of the SDK's crate for Rust, found in the same way; NULL if it is not installed. The caller frees it with
 * graft_free. */
char *graft_program_crate(void);

/* The folder of the plugins that this user installed, $XDG_DATA_HOME/graft/plugins or ~/.local/share/graft/plugins,
 * which need not exist; NULL if memory ran out or neither variable is set. The caller frees it with graft_free. */
char *graft_program_user_plugins_dir(void);

/* Finds the folder of keys that this user trusts, in the same way: $XDG_CONFIG_HOME/graft/trusted-keys or
 * ~/.config/graft/trusted-keys. */
char *graft_program_trusted_keys(void);

#endif
