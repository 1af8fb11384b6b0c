/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next token from logits, by the rules and in the order of transformers' logits processors. */
#ifndef GRAFT_GENERATE_SAMPLER_H
#define GRAFT_GENERATE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "generate/processors.h"
#include "graft/error.h"

/* The random state of one sequence. Sequence `i` of a batch draws the same numbers whatever else is in the batch. */
struct graft_sampler_state {
    uint64_t state;
};
void graft_sampler_state_init(struct graft_sampler_state *state, uint64_t seed, size_t sequence);

/* Scratch memory for one vocabulary. */
struct graft_sampler;
int graft_sampler_create(int64_t vocab_size, struct graft_sampler **sampler, struct graft_error *error);
void graft_sampler_free(struct graft_sampler *sampler);

/* Picks the next token from `logits` [vocab_size]. */
int graft_sampler_pick(struct graft_sampler *sampler, const struct graft_choice *choice, const float *logits,
                       struct graft_sampler_state *state, int32_t *id, struct graft_error *error);

/* Changes scores [vocab_size] in place: applies processors, and with do_sample warpers, which set dropped tokens to
 * -INFINITY and keep at least `least`. */
int graft_sampler_score(struct graft_sampler *sampler, const struct graft_choice *choice, int64_t least, float *scores,
                        struct graft_error *error);

/* A number in [0, 1). */
double graft_sampler_uniform(struct graft_sampler_state *state);

#endif
