/* SPDX-License-Identifier: Apache-2.0 */
/* Time and bytes of weights by class, while a model runs. */
#ifndef GRAFT_HOOKS_PROFILE_H
#define GRAFT_HOOKS_PROFILE_H

#include "hooks/observe.h"

/* The two kinds of steps. */
enum { GRAFT_PHASE_PROMPT = 0, GRAFT_PHASE_TOKEN = 1, GRAFT_PHASES = 2 };

/* Which modules are watched, and which have a row. */
enum {
    GRAFT_PROFILE_ALL = 0,     /* every module, a row for each class */
    GRAFT_PROFILE_REPLACED = 1 /* modules that replace others, undisturbed by watching what is below them */
};

/* Of all calls of a class's modules. */
struct graft_profile_sum {
    int64_t calls;
    double seconds;     /* with the modules below */
    double own_seconds; /* without */
    int64_t bytes;      /* of weights read, with the modules below */
};

struct graft_profile_row {
    const char *class_name;
    const char *interface_id;
    const char *original_class; /* NULL: not a replacement */
    const char *plugin;         /* that brought it, or NULL */
    int64_t modules;
    struct graft_profile_sum phases[GRAFT_PHASES];
};

struct graft_profile {
    struct graft_profile_row *rows;
    size_t count;
    size_t capacity;
    int64_t bytes[GRAFT_PHASES];    /* of weights read in all */
    int32_t phase;                  /* this and the following are the caller's to set */
    int32_t which;                  /* GRAFT_PROFILE_... */
    struct graft_tree *counterpart; /* NULL; or the tree watched is of the original modules, and the rows are of those
                                       that this one has replaced */
    struct graft_observing *observing;
};

/* [load] Begins; the tree outlives the profile. What was counted before is kept, so that a profile can be of several
 * runs. */
int graft_profile_begin(struct graft_profile *profile, struct graft_tree *tree, struct graft_error *error);

/* [load] Stops. The results stay valid until graft_profile_finish. */
void graft_profile_end(struct graft_profile *profile);
void graft_profile_finish(struct graft_profile *profile);

#endif
