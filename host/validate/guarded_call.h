/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a module, made once more on memory between guard pages: its arrays, the structs that it is given, the batch
 * and the scratch memory that it takes. */
#ifndef GRAFT_VALIDATE_GUARDED_CALL_H
#define GRAFT_VALIDATE_GUARDED_CALL_H

#include "hooks/original_call.h"
#include "validate/region.h"

struct graft_guarded_call {
    struct graft_original_call copy;
    struct graft_region *views[GRAFT_MAX_VIEWS]; /* NULL: the array shares its memory with an earlier one */
    const struct graft_call *outer;              /* the call that this one is made for */
    const struct graft_threads *threads;         /* what it is given instead of the call's; NULL: those */
    int64_t fails_at;                            /* so many scratch allocations on, one fails; 0: none does */
    size_t first;                                /* number of the first region */
};

/* [forward] Prepares the call: outputs hold NaN (ids: -1), as scratch memory will. `cache` is a cache of its own. */
int graft_guarded_call_prepare(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                               struct graft_cache *cache, struct graft_error *error);

/* [forward] Makes it. What the module was given cannot be touched afterwards, but for the arrays. */
int graft_guarded_call_run(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                           struct graft_error *error);

/* [forward] Nor can the arrays. */
void graft_guarded_call_end(struct graft_guarded_call *guarded);

#endif
