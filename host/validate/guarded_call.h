/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats a call of a module on memory between guard pages: arrays, structs, batch and scratch memory. */
#ifndef GRAFT_VALIDATE_GUARDED_CALL_H
#define GRAFT_VALIDATE_GUARDED_CALL_H

#include "hooks/original_call.h"
#include "validate/region.h"

struct graft_guarded_call {
    struct graft_original_call copy;
    struct graft_region *views[GRAFT_MAX_VIEWS]; /* NULL: an earlier array has the same memory */
    const struct graft_call *outer;              /* the original call */
    const struct graft_threads *threads;         /* threads in place of the original call's; NULL: the same */
    int64_t fails_at;                            /* fails this scratch allocation, counted from 1; 0: none */
    size_t first;                                /* number of the first region */
};

/* [forward] Prepares the call: outputs and scratch memory are filled with NaN (ids: -1). `cache` is used in place of
 * the original call's cache. */
int graft_guarded_call_prepare(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                               struct graft_cache *cache, struct graft_error *error);

/* [forward] Makes the call. Afterwards everything that the module was given is inaccessible, except for the arrays. */
int graft_guarded_call_run(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                           struct graft_error *error);

/* [forward] Makes the call's arrays inaccessible as well. */
void graft_guarded_call_end(struct graft_guarded_call *guarded);

#endif
