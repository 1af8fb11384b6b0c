/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records outputs of modules while a model runs (graft/host/observe.h). Modules are found by their interface and their
 * layer, not by their class. Attention weights come from the attention implementation, which every attention class
 * calls.
 */
#ifndef GRAFT_HOOKS_RECORD_H
#define GRAFT_HOOKS_RECORD_H

#include "graft/attention_implementation.h"
#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

/* What to record, of a run of one batch of `n` sequences. */
struct graft_record_request {
    uint32_t what;
    const int64_t *lengths; /* [n]: tokens of each */
    size_t n;
    const struct graft_attention_implementation *attention; /* the implementation that the model would use */
};

/* [load] Begins to record in an instantiated tree, which has to live until graft_record_end. */
int graft_record_begin(struct graft_tree *tree, const struct graft_record_request *request,
                       struct graft_recording **recording, struct graft_error *error);

/* [load] The implementation that the run has to use. It records attention weights if they are asked for. */
const struct graft_attention_implementation *graft_record_attention(const struct graft_recording *recording);

/* [load] Stops recording; the tensors stay valid until graft_recording_free. Fails if something asked for was not
 * recorded. */
int graft_record_end(struct graft_recording *recording, struct graft_error *error);

#endif
