/* SPDX-License-Identifier: Apache-2.0 */
/* States: what a module keeps for each sequence from one forward to the next, besides keys and values. Examples are the
 * conv_states and recurrent_states of a linear attention, or a cache of a plugin's own. A class declares them in
 * `describe`, looks them up in `create`, and reads and writes them in `forward`:
 *
 *   graft_describe_state(sink, "conv_states", 2, shape, GRAFT_DTYPE_F32, error);
 *   self->conv_states = graft_build_state(build, "conv_states", error);
 *   for (int32_t s = 0; s < args->batch->sequences; s++)
 *       float *conv_states = (float *)graft_state_get(call, args->batch, self->conv_states, s, error);
 *
 * The host has an array of the declared shape for each module and sequence. What happens to it when a sequence
 *
 * - starts: it is zeroed.
 * - continues: it is as the module left it in the sequence's last forward.
 * - is forked: it is copied, and both sequences have one of their own.
 * - is rolled back: it becomes what it was before the last forward, or zeros. Unlike keys and values a state cannot be
 * truncated; so a sequence that has to go back to any other token goes back further, and the tokens in between are run
 * again. A caller that wants to return to a token should keep a fork of the sequence at it.
 * - ends: it is freed, or zeroed for the next sequence in the slot.
 *
 * If a forward fails in any module, all states remain as they were before it. A sequence's tokens may arrive in one
 * forward or in several, together with other sequences or alone; a module's outputs and states must not depend on that
 * beyond rounding. In forwards of up to GRAFT_SMALL_BATCH tokens (batch.h) they must not depend on it at all:
 * speculative generation (`--speculate`), or generating together with others, gives the same ids as without. So use a
 * scan that computes many tokens at once only for more tokens than that. A module that has a state must take part in
 * every forward of a sequence: if it missed a token, the next one is an error. */
#ifndef GRAFT_STATE_H
#define GRAFT_STATE_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "dtype.h"
#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The declaration of a state. All members are required. */
struct graft_state_info {
    uint32_t struct_size;
    uint32_t flags;    /* none are defined: 0. Capabilities and requirements, as in abi.h */
    const char *name;  /* "conv_states": letters, digits, '_', '-'; unique in a class */
    graft_dtype dtype; /* type of its elements, in the processor's byte order */
    int32_t rank;      /* 1 to GRAFT_MAX_RANK */
    int64_t
        shape[GRAFT_MAX_RANK]; /* [rank] for one sequence, each dimension at least 1; the other elements are not read */
};

#define GRAFT_STATE_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_state_info, shape)

GRAFT_ASSERT_SIZE(struct graft_state_info, 88);
GRAFT_ASSERT_OFFSET(struct graft_state_info, shape, 24);

/* [forward] The state of sequence `sequence` of a batch: the declared array, row-major, on a 64-byte boundary, to be
 * read and changed in place. It belongs to the host and is valid until the forward returns. Within a forward every call
 * returns the same array. If the batch has no cache, nothing is kept: each call returns zeros in scratch memory. NULL
 * with an error recorded: memory ran out, the sequence has no tokens in this batch, or its position is not the one at
 * which this state was left. Must not be called in the body of a parallel_for: get all states before. */
GRAFT_INLINE void *graft_state_get(const struct graft_call *call, const struct graft_batch *batch,
                                   const struct graft_state *state, int32_t sequence, struct graft_error *error) {
    return call->state(call, batch, state, sequence, error);
}

#ifdef __cplusplus
}
#endif

#endif
