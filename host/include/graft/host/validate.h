/* SPDX-License-Identifier: Apache-2.0 */
/* Validates plugins before they are used: trials find out whether opening one is harmful, and checks test one as its
 * author would. */
#ifndef GRAFT_HOST_VALIDATE_H
#define GRAFT_HOST_VALIDATE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;

/* --- Checks --- */

/*
 * Checks test a plugin as its author would. Each of the dozens of named checks runs in its own process with a time
 * limit, so a plugin that crashes or hangs fails only that check. The plugin's classes are built in tiny models with
 * random weights, which are made in a temporary folder, or in a given model; classes for quantized checkpoints need a
 * given one.
 *
 *     graft_plugin_check("my.so", NULL, on_result, data, &error);
 */

#define GRAFT_CHECK_PASSED 0
#define GRAFT_CHECK_FAILED 1
#define GRAFT_CHECK_SKIPPED 2 /* it does not apply to this plugin: `text` says why */

struct graft_check_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;        /* "forward.batches" */
    const char *explanation; /* what the check demands, in one line */
};

/* [any] Check `i`, in the order of execution; NULL after the last. */
const struct graft_check_info *graft_check(size_t i);

struct graft_check_result {
    uint32_t struct_size;
    int32_t outcome;                     /* GRAFT_CHECK_... */
    const struct graft_check_info *info; /* the check */
    /* Why it failed ("llama: was killed by signal 11 (Segmentation fault)") or was skipped; for a check that passed,
     * the models to which it does not apply, or "". */
    const char *text;
    double seconds; /* it took */
    /* The beginning of what the plugin, or its sanitizer, wrote to stderr during the check: lines, or "". A report of a
     * sanitizer makes the check fail. */
    const char *output;
};

/* [load] Called when a check begins, and several times a second while it runs: `done` of `total` checks are complete,
 * and `info` is the current one. */
typedef void (*graft_check_progress)(void *data, const struct graft_check_info *info, int32_t done, int32_t total);

struct graft_check_options {
    uint32_t struct_size;
    int32_t limit_ms; /* time limit for each check; 0: a minute, or ten with `thorough` */
    int64_t fuzz;     /* number of models of random sizes to try as well; 0: none */
    int32_t thorough; /* 1: every allocation of the host fails in turn, not only a sample */
    uint32_t reserved;
    /* A model directory to use for the checks, which is not modified; NULL: tiny models. A directory without config or
     * weights is an error of graft_plugin_check. */
    const char *model;
    /* Directories of other plugins that the model needs, such as the one that brings its model type. */
    const char *const *directories; /* [n_directories] */
    int32_t n_directories;
    int32_t n_only; /* 0: runs all checks */
    /* [n_only] Names of checks ("forward.batches") or groups ("forward") to run; build.describes is added if a later
     * check needs the models that it makes. An unknown name is an error of graft_plugin_check. */
    const char *const *only;
    graft_check_progress on_progress; /* gets the `data` of graft_plugin_check; may be NULL */
};

#define GRAFT_CHECK_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_check_options, reserved)

/* [any] Gets the result of a check, valid during the call. Any status but GRAFT_OK stops. */
typedef int (*graft_check_function)(void *data, const struct graft_check_result *result, struct graft_error *error);

/* [load, in a process with one thread and no other children] Runs the checks on a plugin's file. Returns GRAFT_OK if
 * all could be run, whatever their results; errors are those of the host itself. `options` may be NULL. */
int graft_plugin_check(const char *file, const struct graft_check_options *options, graft_check_function on_result,
                       void *data, struct graft_error *error);

/* --- Models to try with --- */

/* [load] Creates the directory `directory`, which must not exist, with a tiny model with random weights in which some
 * module has the class. Its model type is the first one, of the host or of a plugin, that uses the class and works with
 * the config.json that checks use; `*model_type` becomes that type, valid as long as the library. If there is none, no
 * directory is made, and the error is GRAFT_ERROR_USAGE. */
int graft_tiny_model_make(struct graft_library *library, const char *class_name, const char *directory,
                          const char **model_type, struct graft_error *error);

/* --- Trials --- */

/*
 * Trials open each plugin in a separate process first, where it can do no harm. A plugin is refused, with the reason,
 * if it crashes, hangs, ends the process, closes files, leaves processes or threads behind, or changes what belongs to
 * the whole process: the working directory, resource limits, the file mode mask, signal handlers and the signal mask,
 * timers, the locale, environment variables, and the floating-point environment.
 *
 * The library does not fork for this, since the caller's process may have threads. It starts a program that calls
 * graft_plugins_try and prints the verdicts, such as the one that is shipped:
 *
 *     graft_trials_set_program("/usr/bin/graft", 0);
 *
 * Verdicts are remembered in $XDG_CACHE_HOME/graft/trials (or ~/.cache/graft/trials), by the file's device, inode, size
 * and times of change. If that file cannot be written, plugins are tried each time. Trials that failed for lack of
 * memory or processes are not remembered.
 */

/* [load] From now on each plugin file is tried before it is opened, by running `PROGRAM try FILE...`; NULL, the
 * default: plugins are opened untried. With `again` 1, remembered verdicts are ignored. `program` is copied. Returns
 * GRAFT_OK, or GRAFT_ERROR_INTERNAL if memory ran out. */
int graft_trials_set_program(const char *program, int32_t again);

#define GRAFT_TRIAL_SAFE 0     /* it was opened without doing any harm */
#define GRAFT_TRIAL_REFUSED 1  /* it did */
#define GRAFT_TRIAL_UNOPENED 2 /* it cannot be opened or is no usable plugin, but did no harm */
#define GRAFT_TRIAL_UNTRIED 3  /* it could not be tried, for reasons outside of the plugin; not remembered */

/* [any] Gets the verdict on `file`. `cause` is one line: "was killed by signal 11 (Segmentation fault) while its
 * constructors ran", why the plugin cannot be used, or "". Both strings are valid only during the call. */
typedef void (*graft_trial_function)(void *data, const char *file, int32_t verdict, const char *cause);

/* [any, in a process with one thread and no other children] Tries `n` files one after another, and reports each before
 * it tries the next. */
void graft_plugins_try(const char *const *files, size_t n, graft_trial_function on_verdict, void *data);

#ifdef __cplusplus
}
#endif

#endif
