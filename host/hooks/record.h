/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording what modules give while a model runs (graft/host/observe.h). Modules are found by their interfaces and by
 * the layer they are in, not by their classes. Attention weights come from the attention implementation, which every
 * attention class goes through.
 */
#ifndef GRAFT_HOOKS_RECORD_H
#define GRAFT_HOOKS_RECORD_H

#include "graft/attention_implementation.h"
#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

/* What to record, and of which run: one batch of `n` sequences. */
struct graft_record_request {
    uint32_t what;
    const int64_t *lengths; /* [n]: tokens of each */
    size_t n;
    const struct graft_attention_implementation *attention; /* that the model would use */
};

/* [load] Begins to record in an instantiated tree, which outlives the recording's end. */
int graft_record_begin(struct graft_tree *tree, const struct graft_record_request *request,
                       struct graft_recording **recording, struct graft_error *error);

/* [load] What the run has to use: it gives weights away where they are asked for. */
const struct graft_attention_implementation *graft_record_attention(const struct graft_recording *recording);

/* [load] Stops; what was recorded stays until graft_recording_free. An error if something asked for is not there. */
int graft_record_end(struct graft_recording *recording, struct graft_error *error);

#endif
