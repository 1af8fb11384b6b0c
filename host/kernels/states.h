/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of sequences (graft/state.h). A slot is one sequence; in it each state is an array of fixed size, made when it
 * is first asked for, and beside it what the array was before the last step: what a sequence can go back to. Between
 * forwards all states of a slot in use have seen the same number of tokens. Threads: as for the KV cache.
 */
#ifndef GRAFT_KERNELS_STATES_H
#define GRAFT_KERNELS_STATES_H

#include <stdint.h>

#include "graft/error.h"

/* A state that a module holds, of every sequence. */
struct graft_state {
    int32_t index; /* among those of the model, from 0 */
    int64_t bytes; /* > 0 */
};

/* Arrays for each state and sequence: what it is, and what it was before the last step. */
enum { GRAFT_STATE_ARRAYS = 2 };

struct graft_states;

/* States for sequences 0 .. slots - 1, all at their start; NULL if memory ran out. */
struct graft_states *graft_states_create(int32_t slots);
void graft_states_destroy(struct graft_states *states);

/* The array of a state, for a step of `tokens` > 0 tokens from `position` on: what it was after that many tokens, for
 * the caller to bring up to date. Asking again in the same step gives the same. Valid until the state's next step. */
int graft_states_step(struct graft_states *states, const struct graft_state *state, int32_t slot, int64_t position,
                      int64_t tokens, void **data, struct graft_error *error);

/* The most tokens, at most `length`, after which all states of a slot are still known. */
int64_t graft_states_reach(const struct graft_states *states, int32_t slot, int64_t length);

/* Takes a slot back to a number of tokens that graft_states_reach gave. */
void graft_states_rewind(struct graft_states *states, int32_t slot, int64_t length);

/* Makes slot `to` what slot `from` is now. On failure it is in part. */
int graft_states_copy(struct graft_states *states, int32_t from, int32_t to, struct graft_error *error);

/* Whether every state of a slot is known after `length` tokens, without going back: a copy is there then. */
int graft_states_is_at(const struct graft_states *states, int32_t slot, int64_t length);

/* Bytes that the states of a slot take; 0 before it holds any. */
int64_t graft_states_bytes(const struct graft_states *states, int32_t slot);

/* Takes a slot to its start and frees its memory. */
void graft_states_release(struct graft_states *states, int32_t slot);

#endif
