/* SPDX-License-Identifier: Apache-2.0 */
/* What came of trying the files of a load, by a program that does it in a process of its own (graft/host/validate.h).
 */
#ifndef GRAFT_PLUGIN_TRIALS_H
#define GRAFT_PLUGIN_TRIALS_H

#include <stddef.h>

#include "graft/error.h"

struct graft_trials;

/* [any] Tries those of `n` files that are not remembered and end in ".so". `*trials` is NULL when plugins are opened
 * untried; the caller frees it. Errors are GRAFT_ERROR_PLUGIN: the program does not run; and without memory. */
int graft_trials_make(const char *const *files, size_t n, struct graft_trials **trials, struct graft_error *error);

/* [any] Whether `file` may be opened: refused ones are a GRAFT_ERROR_PLUGIN with the cause. `trials` may be NULL. */
int graft_trials_check(const struct graft_trials *trials, const char *file, struct graft_error *error);

void graft_trials_free(struct graft_trials *trials);

#endif
