/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a hooked call with another module as well, on copies of everything that it writes. */
#ifndef GRAFT_HOOKS_ORIGINAL_CALL_H
#define GRAFT_HOOKS_ORIGINAL_CALL_H

#include "graft/batch.h"
#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

struct graft_original_call {
    const struct graft_module *module; /* another module of the same interface */
    struct graft_cache *cache; /* used instead of the batch's cache; holds the same sequences at the same positions */
    void *args;
    struct graft_batch batch;
    void *outputs[GRAFT_MAX_VIEWS]; /* [n_views]: the other module's outputs; NULL for views that are only read */
    double seconds;
};

/* [forward] Call this before the hooked module runs: copies the arrays that it will change into the call's scratch
 * memory. */
int graft_original_call_prepare(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                                struct graft_error *error);

/* [forward] Runs the other module, before or after the hooked one. */
int graft_original_call_run(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                            struct graft_error *error);

/* [forward] Call this after both have run: how far their outputs differ, relative to the original's. */
struct graft_difference graft_original_call_compare(const struct graft_original_call *original,
                                                    const struct graft_hooked_call *hooked);

#endif
