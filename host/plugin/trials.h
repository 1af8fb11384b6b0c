/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of the files of a load, made by a program in a process of its own (graft/host/validate.h). */
#ifndef GRAFT_PLUGIN_TRIALS_H
#define GRAFT_PLUGIN_TRIALS_H

#include <stddef.h>

#include "graft/error.h"

struct graft_trials;

/* [any] Tries those of `n` files that end in ".so" and have no remembered verdict. `*trials` is NULL if plugins are
 * opened untried; the caller frees it. Errors are GRAFT_ERROR_PLUGIN if the program does not run, and
 * GRAFT_ERROR_INTERNAL if memory ran out. */
int graft_trials_make(const char *const *files, size_t n, struct graft_trials **trials, struct graft_error *error);

/* [any] Checks that `file` may be opened: a refused one is GRAFT_ERROR_PLUGIN with the cause. `trials` may be NULL. */
int graft_trials_check(const struct graft_trials *trials, const char *file, struct graft_error *error);

void graft_trials_free(struct graft_trials *trials);

#endif
