/* SPDX-License-Identifier: Apache-2.0 */
/* From options to the library's handles. */
#ifndef GRAFT_CLI_SETUP_H
#define GRAFT_CLI_SETUP_H

#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* Finds the directories that --model and --against name (cli/hub.h). From then on the options name these. */
int graft_setup_find_models(struct graft_options *options, struct graft_error *error);

/* Threads, and where plugins' log lines go. */
int graft_setup_process(const struct graft_options *options, struct graft_error *error);

/* With --parallel: finds the other processes. From then on ranks above 0 are quiet, and write nothing to stdout. */
int graft_setup_parallel(struct graft_options *options, struct graft_error *error);

/* That the other processes have the same plugins, to the byte: an error otherwise. */
int graft_setup_agree_plugins(const struct graft_library *library, struct graft_error *error);

/* After an error: goes on where it is to be told. Of several ranks that fail one tells, and ends the others. */
void graft_setup_claim_abort(void);

/* Ends the other processes, and this one, if there are any. */
void graft_setup_fail_together(int status);

/* Loads the plugins that the options name. */
int graft_setup_plugins(const struct graft_options *options, struct graft_library *library, struct graft_error *error);

/* Names the folder of installed plugins where `default` was given. `*directories` and `*installed` are the caller's. */
int graft_setup_directories(const struct graft_strings *given, const char ***directories, char **installed,
                            struct graft_error *error);

/* Loads the plugin of a file, and beside it those of --plugins-dir. Without a model they are only looked at. */
int graft_setup_plugin(const struct graft_options *options, const char *file, struct graft_library *library,
                       struct graft_error *error);

/* Opens the model; with --strict, refuses one whose checkpoint does not fit exactly. */
int graft_setup_model(const struct graft_options *options, struct graft_library *library, struct graft_model **model,
                      struct graft_error *error);

/* The same, or with --against the model there, without replacements and without what is chosen by name: attention and
 * experts are the usual ones, kernels the classes' own, and there are no adapters. What `verify` and `bench` compare
 * with. The model's family may be a plugin's, so `library` is a new one with the same plugins. The caller frees both,
 * also after an error. */
int graft_setup_original(const struct graft_options *options, struct graft_library **library,
                         struct graft_model **model, struct graft_error *error);

/* Whether modules of the model have another class than those of its original. */
int graft_setup_replaces(const struct graft_model *model, const struct graft_model *original);

/* What --adapter and --adapter-scale ask for: `*adapters`, an array of options->adapters.count, which the caller gives
 * to graft_setup_adapters_free, also after an error. */
int graft_setup_adapters(const struct graft_options *options, struct graft_adapter_options **adapters,
                         struct graft_error *error);
void graft_setup_adapters_free(struct graft_adapter_options *adapters, size_t n);

/* Fuses modules as --fuse says, in a model that was opened; loading it puts the chains in place. */
int graft_setup_fuse(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* What --check-finite and --trace ask for; NULL: nothing. */
int graft_setup_watch(const struct graft_options *options, struct graft_model *model, struct graft_watch **watch,
                      struct graft_error *error);

/* Ends it after a run that ended in `status`: that, or if it is GRAFT_OK how the end went. Accepts NULL. */
int graft_setup_unwatch(struct graft_watch *watch, int status, struct graft_error *error);

/* The load report on stderr, in the form that --report and --quiet ask for. */
int graft_setup_report(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

#endif
