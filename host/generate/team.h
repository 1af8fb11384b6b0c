/* SPDX-License-Identifier: Apache-2.0 */
/* Teams: sequences of a run that take their tokens together, namely the beams of one prompt (beams.h), or a prompt and,
 * as its guide, its last token alone. They are fed like other sequences, each in its slot. A member whose logits are
 * there waits for those of the others; then tokens are chosen. One member leads the team: it has the prompt, and the
 * others' tokens are reported under its number. */
#ifndef GRAFT_GENERATE_TEAM_H
#define GRAFT_GENERATE_TEAM_H

#include "generate/sequence.h"

struct graft_beams;

struct graft_team {
    struct graft_sequence **members; /* [n]; for beams, in their order */
    struct graft_sequence **order;   /* [n]: scratch for reordering */
    struct graft_sequence *lead;
    size_t n;
    size_t n_there;            /* number of members that have not been freed */
    struct graft_beams *beams; /* NULL: the second member guides the first */
};

/* [any] How many sequences a prompt needs with these settings. */
size_t graft_team_size(const struct graft_generation *generation);

/* [load] Makes `lead` the first member of a team, if its settings ask for one, with members that are not in a run yet.
 * On failure it has no team. */
int graft_team_create(struct graft_sequence *lead, int64_t vocab_size, struct graft_error *error);

/* [load] Removes a member that is being freed; the last one frees the team. */
void graft_team_leave(struct graft_sequence *member);

/* [any] Whether the sequence has no team, or leads one. */
int graft_team_leads(const struct graft_sequence *sequence);

/* [forward] Stores the logits of a member (NULL: another process has them). `*is_complete` is 1 once all logits for the
 * team's next step are there. */
int graft_team_keep(struct graft_sequence *member, const float *logits, int64_t vocab_size, int *is_complete,
                    struct graft_error *error);

/* [forward] Drops all logits, because they have been used or have to be computed again. */
void graft_team_clear(struct graft_team *team);

/* [any] The sequence that a beam continues: until there are several continuations, that is the one with the prompt. */
struct graft_sequence *graft_team_origin(const struct graft_team *team, size_t beam);

/* [forward] Combines the guide's logits [n] with the leader's, which become the guided scores. */
void graft_team_guide(const struct graft_team *team, int64_t n);

#endif
