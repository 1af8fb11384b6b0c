/* SPDX-License-Identifier: Apache-2.0 */
/* Tries a plugin: opens it in a process of its own to see what it does there. */
#ifndef GRAFT_PLUGIN_TRIAL_H
#define GRAFT_PLUGIN_TRIAL_H

#include <stdint.h>

#include "graft/host/validate.h"

enum { GRAFT_TRIAL_CAUSE = sizeof((struct graft_error *)0)->message };

struct graft_trial {
    int32_t verdict;               /* GRAFT_TRIAL_... */
    char cause[GRAFT_TRIAL_CAUSE]; /* what it did, such as "ended the process", or why it did not open; "" if it is safe
                                    */
};

/* Memory that the trying and the tried process share, since a plugin can close files. */
struct graft_trial_notes {
    volatile int32_t stage;  /* GRAFT_TRIAL_...: what the child is doing */
    volatile int32_t failed; /* the errno for which the child could not start; 0 if it started */
    volatile int32_t is_done;
    struct graft_trial trial; /* the result, once the child is done */
};

enum {
    GRAFT_TRIAL_CONSTRUCTORS,
    GRAFT_TRIAL_ENTRY,
    GRAFT_TRIAL_DESCRIPTOR,
    GRAFT_TRIAL_DESTRUCTORS,
};

#define GRAFT_TRIAL_LEFT_PROCESSES "left processes behind"

/* [any, in a process with one thread and no other children] Opens `file` in a child, which may use `limit_ms`
 * milliseconds of processor time and sleep as long. When this returns, nothing that it started is left. */
void graft_trial_make(const char *file, int32_t limit_ms, struct graft_trial *trial);

/* The child's part. It ends the process. */
_Noreturn void graft_trial_child(const char *file, struct graft_trial_notes *notes);

#endif
