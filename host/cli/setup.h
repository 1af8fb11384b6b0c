/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the library's handles from the options. */
#ifndef GRAFT_CLI_SETUP_H
#define GRAFT_CLI_SETUP_H

#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* Finds the directories of --model and --against (cli/hub.h) and replaces the options' values by them. */
int graft_setup_find_models(struct graft_options *options, struct graft_error *error);

/* Sets the number of threads, and where log lines of plugins go. */
int graft_setup_process(const struct graft_options *options, struct graft_error *error);

/* With --parallel: connects to the other processes. After that, ranks above 0 are quiet and write nothing to stdout. */
int graft_setup_parallel(struct graft_options *options, struct graft_error *error);

/* Checks that all processes have loaded the same plugins, with identical files. */
int graft_setup_agree_plugins(const struct graft_library *library, struct graft_error *error);

/* Call it before reporting an error. Of several failing ranks one returns from here, reports, and ends the others. */
void graft_setup_claim_abort(void);

/* Ends all processes of the model, if there are several. */
void graft_setup_fail_together(int status);

/* Loads the plugins of --plugins-dir that the options select. */
int graft_setup_plugins(const struct graft_options *options, struct graft_library *library, struct graft_error *error);

/* Folders of plugins. */
struct graft_directories {
    const char **items;
    size_t n;
    char *installed; /* "default": the plugins that come with the program, */
    char *users;     /* and those that the user installed; NULL if there are none */
};

/* Sets `directories` to the given ones, with "default" replaced by the folders of installed plugins. The caller ends
 * with graft_directories_finish, also after an error. */
int graft_setup_directories(const struct graft_strings *given, struct graft_directories *directories,
                            struct graft_error *error);
void graft_directories_finish(struct graft_directories *directories);

/* Loads the plugin of a file, and those of --plugins-dir. Without a model they are loaded but not used. */
int graft_setup_plugin(const struct graft_options *options, const char *file, struct graft_library *library,
                       struct graft_error *error);

/* Opens the model; with --strict, refuses one whose checkpoint does not fit exactly. */
int graft_setup_model(const struct graft_options *options, struct graft_library *library, struct graft_model **model,
                      struct graft_error *error);

/* Opens the original, with which `verify` and `bench` compare: the same model, or that of --against, without
 * replacements, adapters, or implementations chosen by name (attention, experts, kernels). Since a plugin may declare
 * the model's family, `library` is a new one with the same plugins. The caller frees both, also after an error. */
int graft_setup_original(const struct graft_options *options, struct graft_library **library,
                         struct graft_model **model, struct graft_error *error);

/* Whether modules of the model have another class than those of its original. */
int graft_setup_replaces(const struct graft_model *model, const struct graft_model *original);

/* Makes `*adapters` [options->adapters.count] from --adapter and --adapter-scale. The caller frees it with
 * graft_setup_adapters_free, also after an error. */
int graft_setup_adapters(const struct graft_options *options, struct graft_adapter_options **adapters,
                         struct graft_error *error);
void graft_setup_adapters_free(struct graft_adapter_options *adapters, size_t n);

/* Plans the chains of --fuse in an opened model; loading the model then fuses them. */
int graft_setup_fuse(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* Starts watching for --check-finite and --trace; NULL if neither is given. */
int graft_setup_watch(const struct graft_options *options, struct graft_model *model, struct graft_watch **watch,
                      struct graft_error *error);

/* Ends watching after a run. Returns the run's `status` or, if that is GRAFT_OK, the status of ending. Accepts NULL. */
int graft_setup_unwatch(struct graft_watch *watch, int status, struct graft_error *error);

/* Prints the load report to stderr, in the form of --report; nothing with --quiet. */
int graft_setup_report(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error);

#endif
