/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model while hooks repeat the calls of the plugin's modules. */
#ifndef GRAFT_VALIDATE_SECOND_CALLS_H
#define GRAFT_VALIDATE_SECOND_CALLS_H

#include "hooks/forward_hooks.h"
#include "validate/compare.h"
#include "validate/region.h"

enum { GRAFT_SECOND_NODES = 4096 };

struct graft_second_calls {
    struct graft_subject *subject;
    int32_t aim;    /* what the hooks look for */
    int64_t calls;  /* number of repeated calls */
    const char *id; /* id of the plugin */
    const struct graft_node *nodes[GRAFT_SECOND_NODES];
    struct graft_cache *caches[GRAFT_SECOND_NODES]; /* for the repeated calls, one cache for each module */
    size_t n;
};

/* [forward] For hooks: the cache for a module's repeated calls; NULL if memory ran out. */
struct graft_cache *graft_second_calls_cache(struct graft_second_calls *second, const struct graft_node *node);

/* [forward] For hooks: records a fault of the module, in one of its arrays or slots. Returns GRAFT_ERROR_PLUGIN. */
int graft_second_calls_fault(const struct graft_second_calls *second, const struct graft_hooked_call *hooked,
                             const char *where, const char *what, struct graft_error *error);

typedef int (*graft_second_calls_hook)(void *second, struct graft_hooked_call *hooked, struct graft_error *error);

/* [load] Runs the subject's model `times` times with the hooks `before` and `after`, whose data is the struct
 * graft_second_calls. */
int graft_second_calls_run(struct graft_subject *subject, int32_t aim, int times, graft_second_calls_hook before,
                           graft_second_calls_hook after, struct graft_error *error);

/* [load] Does the same with a model opened here, whose classes get guarded memory (lender.h). The subject must be
 * closed. */
int graft_second_calls_run_guarded(struct graft_subject *subject, enum graft_region_side side, int32_t aim, int times,
                                   graft_second_calls_hook before, graft_second_calls_hook after,
                                   struct graft_error *error);

#endif
