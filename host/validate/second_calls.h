/* SPDX-License-Identifier: Apache-2.0 */
/* A model that runs while hooks make calls of the plugin's modules once more. */
#ifndef GRAFT_VALIDATE_SECOND_CALLS_H
#define GRAFT_VALIDATE_SECOND_CALLS_H

#include "hooks/forward_hooks.h"
#include "validate/compare.h"
#include "validate/region.h"

enum { GRAFT_SECOND_NODES = 4096 };

struct graft_second_calls {
    struct graft_subject *subject;
    int32_t aim;    /* the hooks' own: what they look for */
    int64_t calls;  /* that were made */
    const char *id; /* of the plugin */
    const struct graft_node *nodes[GRAFT_SECOND_NODES];
    struct graft_cache *caches[GRAFT_SECOND_NODES]; /* of the second calls, a module each */
    size_t n;
};

/* [forward] For the hooks: the cache of a module's second calls; NULL if memory ran out. */
struct graft_cache *graft_second_calls_cache(struct graft_second_calls *second, const struct graft_node *node);

/* [forward] For the hooks: a fault of the module, in one of its arrays or slots. Returns GRAFT_ERROR_PLUGIN. */
int graft_second_calls_fault(const struct graft_second_calls *second, const struct graft_hooked_call *hooked,
                             const char *where, const char *what, struct graft_error *error);

typedef int (*graft_second_calls_hook)(void *second, struct graft_hooked_call *hooked, struct graft_error *error);

/* [load] Runs the subject's model `times` times. `before` and `after` get the struct graft_second_calls. */
int graft_second_calls_run(struct graft_subject *subject, int32_t aim, int times, graft_second_calls_hook before,
                           graft_second_calls_hook after, struct graft_error *error);

/* [load] The same with a model that is opened here, while what its classes are lent, and the memory that they take, is
 * guarded; for a subject that is closed. */
int graft_second_calls_run_guarded(struct graft_subject *subject, enum graft_region_side side, int32_t aim, int times,
                                   graft_second_calls_hook before, graft_second_calls_hook after,
                                   struct graft_error *error);

#endif
