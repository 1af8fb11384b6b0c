/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef GRAFT_HOST_TRIAL_H
#define GRAFT_HOST_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [load] From now on each plugin of a file is tried before it is opened, by running `PROGRAM try FILE...`; NULL (the
 * default): plugins are opened untried. 1 as `again`: what is remembered does not count. `program` is copied. Returns
 * GRAFT_OK or GRAFT_ERROR_INTERNAL, without memory. */
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
