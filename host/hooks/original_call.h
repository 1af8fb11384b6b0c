/* SPDX-License-Identifier: Apache-2.0 */
/* Letting another module do a hooked call as well, on copies of all that it writes. */
#ifndef GRAFT_HOOKS_ORIGINAL_CALL_H
#define GRAFT_HOOKS_ORIGINAL_CALL_H

#include "graft/batch.h"
#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

struct graft_original_call {
    const struct graft_module *module; /* of the same interface */
    struct graft_cache *cache;         /* in the place of the batch's; its sequences are where the batch's are */
    void *args;
    struct graft_batch batch;
    void *outputs[GRAFT_MAX_VIEWS]; /* [n_views]: what the module gave; NULL where it only reads */
    double seconds;
};

/* [forward] To be called before the hooked module runs: copies what it will change, into the call's scratch memory.
 */
int graft_original_call_prepare(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                                struct graft_error *error);

/* [forward] Before the hooked module runs, or after. */
int graft_original_call_run(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                            struct graft_error *error);

/* [forward] After both: how far what both wrote differs; the original is the reference. */
struct graft_difference graft_original_call_compare(const struct graft_original_call *original,
                                                    const struct graft_hooked_call *hooked);

#endif
