/* SPDX-License-Identifier: Apache-2.0 */
/* What the program knows of itself: the name it was called by and where its plugins were installed. */
#ifndef GRAFT_CLI_PROGRAM_H
#define GRAFT_CLI_PROGRAM_H

#include "graft/error.h"

/* Keeps what is behind the last slash of `argv0`, which outlives the program; NULL or nothing there is "graft". */
void graft_program_set_name(const char *argv0);

/* Under this name the program speaks of itself in usage, errors and hints. */
const char *graft_program_name(void);

/* A write beyond a limit on file sizes, or to a pipe that nobody reads any more, fails from now on, as a write to a
 * full disk does: what was begun is removed, and an error tells. Otherwise the signal would end the program at once.
 * With `is_one_of_several` that stays so for pipes: of processes that run one model only one tells why they end, and
 * the others find their connections closed. */
void graft_program_ignore_signals(int is_one_of_several);

/* The file that the program was started from. The caller frees it with graft_free. */
int graft_program_path(char **path, struct graft_error *error);

/* The folder that `--plugins-dir default` means: below the prefix that the program lies in, wherever that was moved to;
 * beside the program; or as configured. The caller frees it with graft_free. None of them there is an error. */
int graft_program_plugins_dir(char **directory, struct graft_error *error);

/* The script that converts weights to safetensors, likewise found; NULL where it is not installed. The caller frees it
 * with graft_free. */
char *graft_program_converter(void);

#endif
