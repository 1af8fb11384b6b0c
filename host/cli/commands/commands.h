/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. Each prints its result to stdout and returns a status, which is the program's exit status. */
#ifndef GRAFT_CLI_COMMANDS_COMMANDS_H
#define GRAFT_CLI_COMMANDS_COMMANDS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* `plan`: the decisions for a model that was opened. */
int graft_command_plan(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

/* `run`: the prompts through a model that was loaded. */
int graft_command_run(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `chat`: a conversation with a model that was loaded, from stdin to stdout. */
int graft_command_chat(const struct graft_options *options, struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

/* `serve`: a model that was loaded, to clients, until a signal says that it is enough. */
int graft_command_serve(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `save`: a model that was opened, to a directory. */
int graft_command_save(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `tokenize`: lines of stdin through the directory's tokenizer. */
int graft_command_tokenize(const struct graft_options *options, struct graft_error *error);

/* `inspect`: a plugin's file, or a class with the plugins of `library`. */
int graft_command_inspect(const struct graft_options *options, struct graft_library *library,
                          struct graft_error *error);

/* `verify`: a model that was loaded, against the same without replacements. It is an error if nothing is replaced. */
int graft_command_verify(const struct graft_options *options, struct graft_model *model,
                         const struct graft_library *library, struct graft_error *error);

/* `bench`: the speed of a model that was loaded. */
int graft_command_bench(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `perplexity`: of a model that was loaded, on the text of a file. */
int graft_command_perplexity(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* `family`: what an author of a family file asks for. */
int graft_command_family(const struct graft_options *options, struct graft_error *error);

/* `try`: files, each in a process of its own. It is an error if one of them is not safe to open. */
int graft_command_try(const struct graft_options *options, struct graft_error *error);

/* `validate`: all checks on a plugin's file. It is an error if one of them fails. */
int graft_command_validate(const struct graft_options *options, struct graft_error *error);

/* `list`: one line per plugin, per class, or per model type. */
int graft_list_families(const struct graft_options *options, struct graft_library *library, struct graft_error *error);
int graft_command_list(const struct graft_options *options, struct graft_library *library, struct graft_error *error);

#endif
