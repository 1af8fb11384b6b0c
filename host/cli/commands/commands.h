/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. Each prints its result to stdout and returns a status, which is the program's exit status. */
#ifndef GRAFT_CLI_COMMANDS_COMMANDS_H
#define GRAFT_CLI_COMMANDS_COMMANDS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* `plan`: prints how an opened model would be built. */
int graft_command_plan(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

/* `run`: runs the prompts through a loaded model. */
int graft_command_run(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `chat`: holds a conversation with a loaded model, from stdin to stdout. */
int graft_command_chat(const struct graft_options *options, struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

/* `serve`: serves a loaded model over HTTP until SIGTERM or SIGINT. */
int graft_command_serve(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `save`: writes an opened model to a directory. */
int graft_command_save(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `tokenize`: encodes or decodes the lines of stdin. */
int graft_command_tokenize(const struct graft_options *options, struct graft_error *error);

/* `inspect`: describes a plugin's file, or a class with the plugins of `library`. */
int graft_command_inspect(const struct graft_options *options, struct graft_library *library,
                          struct graft_error *error);

/* `verify`: compares a loaded model with the same one without replacements. It is an error if nothing is replaced. */
int graft_command_verify(const struct graft_options *options, struct graft_model *model,
                         const struct graft_library *library, struct graft_error *error);

/* `bench`: measures the speed of a loaded model. */
int graft_command_bench(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `perplexity`: measures that of a loaded model on the text of a file. */
int graft_command_perplexity(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `family`: `choices`, `show` and `new`, for authors of family files. */
int graft_command_family(const struct graft_options *options, struct graft_error *error);

/* `new plugin`: writes a project for a class of `library`. */
int graft_command_new(const struct graft_options *options, struct graft_library *library, struct graft_error *error);

/* `pack`: makes a package of a plugin's folder. */
int graft_command_pack(const struct graft_options *options, struct graft_error *error);

/* `install`: checks a package and its plugin, and puts it where it is found. For a process with one thread. */
int graft_command_install(const struct graft_options *options, struct graft_error *error);

/* `remove`: removes an installed package. */
int graft_command_remove(const struct graft_options *options, struct graft_error *error);

/* `list --installed`: prints a line for each package. */
int graft_command_list_installed(const struct graft_options *options, struct graft_error *error);

/* `compare-hf`: becomes the script that compares a model with transformers. Returns only if that cannot be started. */
int graft_command_compare_hf(const struct graft_options *options, struct graft_error *error);

/* `try`: opens plugin files, each in its own process. It is an error if one is not safe to open. */
int graft_command_try(const struct graft_options *options, struct graft_error *error);

/* `validate`: runs all checks on a plugin's file. It is an error if one fails. */
int graft_command_validate(const struct graft_options *options, struct graft_error *error);

/* `list`: prints a line per plugin, per class or, for `list --families`, per model type. */
int graft_list_families(const struct graft_options *options, struct graft_library *library, struct graft_error *error);
int graft_command_list(const struct graft_options *options, struct graft_library *library, struct graft_error *error);

#endif
