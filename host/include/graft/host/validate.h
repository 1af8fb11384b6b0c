/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins before they are used: tried, so that they do no harm, and checked, as their authors would.
 */
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
 * Checking a plugin as its author would: dozens of named checks, each in a process of its own with a time limit, so
 * that a plugin that crashes or hangs fails one check and no more. Its classes are built on tiny models with random
 * weights, made for the occasion in a temporary folder, or on a model that is given; those for quantized checkpoints
 * need one.
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
    const char *explanation; /* what has to hold, one line */
};

/* [any] Check number `i`, in the order in which they are made; NULL after the last. */
const struct graft_check_info *graft_check(size_t i);

struct graft_check_result {
    uint32_t struct_size;
    int32_t outcome;                     /* GRAFT_CHECK_... */
    const struct graft_check_info *info; /* the check */
    /* Why it failed ("llama: was killed by signal 11 (Segmentation fault)") or was skipped; of one that passed, the
     * models to which it does not apply; or "". */
    const char *text;
    double seconds; /* it took */
    /* The beginning of what the plugin, or a sanitizer that it was built with, wrote to stderr meanwhile: lines; or
     * "". A sanitizer's report makes a check fail. */
    const char *output;
};

/* [load] Told when a check begins, and several times a second while it runs: `done` of `total` checks are made, and
 * `info` is the one under way. */
typedef void (*graft_check_progress)(void *data, const struct graft_check_info *info, int32_t done, int32_t total);

struct graft_check_options {
    uint32_t struct_size;
    int32_t limit_ms; /* for each check; 0: a minute, or ten if it is to be thorough */
    int64_t fuzz;     /* models of random sizes to build as well; 0: none */
    int32_t thorough; /* 1: every allocation of the host fails in turn, instead of a sample */
    uint32_t reserved;
    /* A model directory that the checks are made on, and that is only read. NULL: tiny models. One without a config or
     * weights is an error of graft_plugin_check. */
    const char *model;
    /* Where the plugins are that this model needs besides, such as the one that brings its type. */
    const char *const *directories; /* [n_directories] */
    int32_t n_directories;
    int32_t n_only; /* 0: all checks are made */
    /* [n_only] Names of checks ("forward.batches") and groups ("forward") to be made, with build.describes where a
     * check behind it is among them: it makes the models. What is the name of none is an error of graft_plugin_check.
     */
    const char *const *only;
    graft_check_progress on_progress; /* NULL: nobody is told. It gets the `data` of graft_plugin_check. */
};

#define GRAFT_CHECK_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_check_options, reserved)

/* [any] Takes the result of a check, valid during the call. Any status but GRAFT_OK stops. */
typedef int (*graft_check_function)(void *data, const struct graft_check_result *result, struct graft_error *error);

/* [load, in a process with one thread and without other children] Makes the checks on a plugin's file. GRAFT_OK: all
 * were made, whatever came of them; errors are those of the host itself. `options` may be NULL. */
int graft_plugin_check(const char *file, const struct graft_check_options *options, graft_check_function on_result,
                       void *data, struct graft_error *error);

/* --- Models to try with --- */

/* [load] Makes the directory `directory`, which must not exist, a tiny model with random weights in which some module
 * has the class: of the first model type of the host or of a plugin that has it and can be made from the config.json
 * that checks use. `*model_type` becomes that type, valid as long as the library. Where there is none, the directory is
 * not made, and the error is GRAFT_ERROR_USAGE. */
int graft_tiny_model_make(struct graft_library *library, const char *class_name, const char *directory,
                          const char **model_type, struct graft_error *error);

/* --- Trials --- */

/*
 * Trying plugins before they are opened: each in a process of its own, where one that crashes, hangs, ends the process,
 * closes files, or leaves processes or threads behind does no harm. It is then refused with its cause. So is one that
 * changes what belongs to the whole process: the working directory, resource limits, the file mode mask, signal
 * handlers and the signal mask, timers, the locale, environment variables, and the floating-point environment.
 *
 * What a library does in its caller's process must not depend on that caller's threads, so it does not fork: it starts
 * a program, which calls graft_plugins_try and prints what comes of it. The program that ships does so:
 *
 *     graft_trials_set_program("/usr/bin/graft", 0);
 *
 * What was tried is remembered in $XDG_CACHE_HOME/graft/trials (or ~/.cache/graft/trials), by the file's identity:
 * device, inode, size, and times of change. Where that cannot be written, plugins are tried each time. Only what the
 * plugin itself did is remembered: a trial that failed for want of memory or processes is made again the next time.
 */

/* [load] From now on each plugin of a file is tried before it is opened, by running `PROGRAM try FILE...`; NULL (the
 * default): plugins are opened untried. 1 as `again`: what is remembered does not count. `program` is copied. Returns
 * GRAFT_OK or GRAFT_ERROR_INTERNAL if memory ran out. */
int graft_trials_set_program(const char *program, int32_t again);

#define GRAFT_TRIAL_SAFE 0     /* it was opened, and did none of that */
#define GRAFT_TRIAL_REFUSED 1  /* it did */
#define GRAFT_TRIAL_UNOPENED 2 /* it cannot be opened, or is no plugin that can be used, and did no harm */
#define GRAFT_TRIAL_UNTRIED 3  /* it could not be tried, for a reason that is not the plugin's: never remembered */

/* [any] Takes what came of trying `file`. `cause` is one line: "was killed by signal 11 (Segmentation fault) while its
 * constructors ran"; why it cannot be used; or "". Both strings are valid during the call only. */
typedef void (*graft_trial_function)(void *data, const char *file, int32_t verdict, const char *cause);

/* [any, in a process with one thread and without other children] Tries `n` files, one after another, and tells of each
 * before it tries the next. */
void graft_plugins_try(const char *const *files, size_t n, graft_trial_function on_verdict, void *data);

#ifdef __cplusplus
}
#endif

#endif
