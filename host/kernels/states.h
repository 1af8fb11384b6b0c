/* SPDX-License-Identifier: Apache-2.0 */
/* States of sequences (graft/state.h). A slot is one sequence. Each state is an array of fixed size, allocated when it
 * is first asked for, with a second array that holds the state before the last step, to which the sequence can be
 * rewound. Between forwards all states of a slot in use have seen the same number of tokens. Threads: as for the KV
 * cache. */
#ifndef GRAFT_KERNELS_STATES_H
#define GRAFT_KERNELS_STATES_H

#include <stdint.h>

#include "graft/error.h"

/* A state that a module keeps for each sequence. */
struct graft_state {
    int32_t index; /* index among the model's states */
    int64_t bytes; /* > 0 */
};

/* Arrays of each state and sequence: the current state, and the one before the last step. */
enum { GRAFT_STATE_ARRAYS = 2 };

struct graft_states;

/* States for sequences 0 .. slots - 1, all at their start; NULL if memory ran out. */
struct graft_states *graft_states_create(int32_t slots);
void graft_states_destroy(struct graft_states *states);

/* The array of a state for a step of `tokens` > 0 tokens from `position` on. It contains the state after `position`
 * tokens, which the caller updates. Asking again in the same step returns the same array. Valid until the state's next
 * step. */
int graft_states_step(struct graft_states *states, const struct graft_state *state, int32_t slot, int64_t position,
                      int64_t tokens, void **data, struct graft_error *error);

/* The largest number of tokens, at most `length`, to which all states of a slot can be rewound. */
int64_t graft_states_reach(const struct graft_states *states, int32_t slot, int64_t length);

/* Rewinds a slot to a number of tokens that graft_states_reach returned. */
void graft_states_rewind(struct graft_states *states, int32_t slot, int64_t length);

/* Copies slot `from` of `source` to another slot of `target`, which may be the same. On failure the slot `to` is
 * incomplete. */
int graft_states_copy(const struct graft_states *source, int32_t from, struct graft_states *target, int32_t to,
                      struct graft_error *error);

/* Whether every state of a slot after `length` tokens can be copied without rewinding the slot. */
int graft_states_is_at(const struct graft_states *states, int32_t slot, int64_t length);

/* The bytes of a slot's states; 0 before it has any. */
int64_t graft_states_bytes(const struct graft_states *states, int32_t slot);

/* Empties a slot and frees its memory. */
void graft_states_release(struct graft_states *states, int32_t slot);

#endif
