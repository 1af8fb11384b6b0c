/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a sequence: what a module carries from one forward to the next for each sequence, beside keys and values.
 * The conv_states and recurrent_states of a linear attention are such states, or a cache of a plugin's own. A class
 * declares them in `describe`, looks them up in `create`, and reads and writes them in `forward`:
 *
 *     graft_describe_state(sink, "conv_states", 2, shape, GRAFT_DTYPE_F32, error);
 *     self->conv_states = graft_build_state(build, "conv_states", error);
 *     for (int32_t s = 0; s < args->batch->sequences; s++)
 *         float *conv_states = (float *)graft_state_get(call, args->batch, self->conv_states, s, error);
 *
 * The host keeps an array of the declared shape for each module and sequence, and does with it what becomes of the
 * sequence:
 *
 *     starts       zeros
 *     goes on      as the module left it in the sequence's last forward
 *     is forked    copied: from there on both have one of their own
 *     goes back    what it was before the last forward, or zeros. Unlike keys and values a state cannot be cut, so a
 *                  sequence that is to go back elsewhere goes back further, and the tokens in between are run again.
 *                  Who wants to come back to a place keeps a fork of it.
 *     ends         freed, or zeroed for the next sequence in the slot
 *
 * A forward that fails in any module leaves the states of all as they were before it.
 *
 * A sequence's tokens may arrive in one forward or in many, together with other sequences or alone; what a module gives
 * for a token must not depend on it beyond rounding, and so neither may what it leaves behind. In forwards of up to
 * GRAFT_SMALL_BATCH (batch.h) not even a bit may: generating with guesses (`--speculate`), or beside other sequences,
 * gives the same ids as without. A scan that computes many tokens at once is for longer runs. A module that holds a
 * state takes part in each forward of a sequence; a token that did not pass it is an error in the next.
 */
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

/* What a class declares. All of it is required. */
struct graft_state_info {
    uint32_t struct_size;
    uint32_t flags;                /* none yet: 0. Capabilities and requirements, as in abi.h */
    const char *name;              /* "conv_states": letters, digits, '_', '-'; once in a class */
    graft_dtype dtype;             /* of its elements, in the processor's byte order */
    int32_t rank;                  /* 1 to GRAFT_MAX_RANK */
    int64_t shape[GRAFT_MAX_RANK]; /* [rank] of one sequence, each dimension at least 1; the rest is not read */
};

#define GRAFT_STATE_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_state_info, shape)

GRAFT_ASSERT_SIZE(struct graft_state_info, 88);
GRAFT_ASSERT_OFFSET(struct graft_state_info, shape, 24);

/* [forward] The state of sequence number `sequence` of a batch: the declared array, row-major, on a 64-byte boundary,
 * to be read and changed in place; it is the host's, and valid until the forward returns. In one forward it is the same
 * array however often it is asked for. Where the batch has no cache, nothing is kept: zeros in scratch memory, anew
 * each time. NULL with an error recorded: memory ran out; the sequence has no tokens in this batch; or it goes on
 * elsewhere than where this state was left. Not to be called inside a parallel_for body: ask for all of them before. */
GRAFT_INLINE void *graft_state_get(const struct graft_call *call, const struct graft_batch *batch,
                                   const struct graft_state *state, int32_t sequence, struct graft_error *error) {
    return call->state(call, batch, state, sequence, error);
}

#ifdef __cplusplus
}
#endif

#endif
