/* SPDX-License-Identifier: Apache-2.0 */
/* Beam search for one prompt: decides which beams are kept and which are finished, as the reference does. A candidate
 * is a beam and a next token, with the sum of log probabilities. Slots and caches are not handled here. */
#ifndef GRAFT_GENERATE_BEAMS_H
#define GRAFT_GENERATE_BEAMS_H

#include "generate/team.h"

/* A beam and a next token. */
struct graft_beam_candidate {
    float score; /* of the sequence including the token */
    int32_t beam;
    int32_t id;
};

/* A finished sequence. */
struct graft_beam_result {
    float score;      /* by length_penalty */
    int32_t is_ended; /* 0: a placeholder, to be replaced */
    int32_t end;      /* the reason, as in graft/host/sequences.h */
    int32_t *ids;     /* [count] ids after the prompt */
    size_t count;
};

/* [load] Creates the beams with the settings of `lead`. */
int graft_beams_create(const struct graft_sequence *lead, int64_t vocab_size, struct graft_beams **beams,
                       struct graft_error *error);
void graft_beams_free(struct graft_beams *beams);

/* [any] The number of candidates per step. */
size_t graft_beams_candidates(const struct graft_beams *beams);

/* [forward] Offers the continuations of beam `beam` for this step; scores [vocab_size] are processed log probabilities.
 */
int graft_beams_offer(struct graft_beams *beams, int32_t beam, const float *scores, struct graft_error *error);

/* [forward] Chooses the candidates of this step from everything that was offered: best first, or with do_sample drawn
 * with `state`, in the order of the draws. Clears the offers. */
void graft_beams_choose(struct graft_beams *beams, struct graft_sampler_state *state);

/* [any] The candidates of this step, [graft_beams_candidates], which another process may have chosen; and for each of
 * them the reason why its sequence ends with it, as in graft/host/sequences.h, or 0, which the caller fills in. */
struct graft_beam_candidate *graft_beams_chosen(struct graft_beams *beams);
int32_t *graft_beams_ends(struct graft_beams *beams);

/* [forward] Performs a step with these candidates. On failure nothing changes. `*is_over` is 1 if no step follows; else
 * `*next` [beams] has the candidates that continue, best first. */
int graft_beams_step(struct graft_beams *beams, const struct graft_team *team, const struct graft_beam_candidate **next,
                     int *is_over, struct graft_error *error);

/* [any] Result `i`, best first. */
const struct graft_beam_result *graft_beams_result(const struct graft_beams *beams, size_t i);

#endif
