/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beam search: which ways on are kept, and which are finished, as the reference decides it, for one prompt. A step
 * takes candidates, each a beam and a token behind it, with the sum of its logarithms of probabilities. It knows
 * nothing of slots and caches.
 */
#ifndef GRAFT_GENERATE_BEAMS_H
#define GRAFT_GENERATE_BEAMS_H

#include "generate/team.h"

/* A way on. */
struct graft_beam_candidate {
    float score; /* of the sequence with it */
    int32_t beam;
    int32_t id;
};

/* What was finished. */
struct graft_beam_result {
    float score;      /* by length_penalty */
    int32_t is_ended; /* 0: it is only there to be replaced */
    int32_t end;      /* why, as in graft/host/sequences.h */
    int32_t *ids;     /* [count], behind the prompt */
    size_t count;
};

/* [load] For what `lead` is told to do. */
int graft_beams_create(const struct graft_sequence *lead, int64_t vocab_size, struct graft_beams **beams,
                       struct graft_error *error);
void graft_beams_free(struct graft_beams *beams);

/* [any] How many candidates a step takes. */
size_t graft_beams_candidates(const struct graft_beams *beams);

/* [forward] Adds the ways on from beam number `beam` to those of this step, by scores [vocab_size]: logarithms of
 * probabilities, processed. */
int graft_beams_offer(struct graft_beams *beams, int32_t beam, const float *scores, struct graft_error *error);

/* [forward] Chooses the candidates of this step from all that was offered: the best first, or with do_sample drawn by
 * `state`, in the order of the draws. The next offer begins anew. */
void graft_beams_choose(struct graft_beams *beams, struct graft_sampler_state *state);

/* [any] [graft_beams_candidates] of this step, for whoever chose them elsewhere, too; and for each of them why its
 * sequence ends with it, as in graft/host/sequences.h, or 0: the caller fills it in. */
struct graft_beam_candidate *graft_beams_chosen(struct graft_beams *beams);
int32_t *graft_beams_ends(struct graft_beams *beams);

/* [forward] A step with these candidates. On failure nothing has changed. `*is_over` is 1 where nothing is to follow;
 * else `*next` [beams] are the candidates that go on, the best first. */
int graft_beams_step(struct graft_beams *beams, const struct graft_team *team, const struct graft_beam_candidate **next,
                     int *is_over, struct graft_error *error);

/* [any] Result number `i`, the best first. */
const struct graft_beam_result *graft_beams_result(const struct graft_beams *beams, size_t i);

#endif
