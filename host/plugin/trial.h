/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a plugin in a process of its own, to see what it does there. */
#ifndef GRAFT_PLUGIN_TRIAL_H
#define GRAFT_PLUGIN_TRIAL_H

#include <stdint.h>

#include "graft/host/validate.h"

enum { GRAFT_TRIAL_CAUSE = sizeof((struct graft_error *)0)->message };

struct graft_trial {
    int32_t verdict;               /* GRAFT_TRIAL_... */
    char cause[GRAFT_TRIAL_CAUSE]; /* what it did: "ended the process"; of one that did not open: why; "" when safe */
};

/* What the process that tries and the one that is tried share: memory, since a plugin can close files. */
struct graft_trial_notes {
    volatile int32_t stage;  /* GRAFT_TRIAL_... below: what the child is about */
    volatile int32_t failed; /* an errno: the child could not begin; 0: it began */
    volatile int32_t is_done;
    struct graft_trial trial; /* once it is done */
};

enum {
    GRAFT_TRIAL_CONSTRUCTORS,
    GRAFT_TRIAL_ENTRY,
    GRAFT_TRIAL_DESCRIPTOR,
    GRAFT_TRIAL_DESTRUCTORS,
};

#define GRAFT_TRIAL_LEFT_PROCESSES "left processes behind"

/* [any, in a process with one thread that has no other children] Opens `file` in a child, which may take `limit_ms`
 * milliseconds of processor time, and sleep for as long. Nothing that it started is left when this returns. */
void graft_trial_make(const char *file, int32_t limit_ms, struct graft_trial *trial);

/* The child's part: it ends the process. */
_Noreturn void graft_trial_child(const char *file, struct graft_trial_notes *notes);

#endif
