/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of a run that take their tokens together: the beams of one prompt (beams.h), or a prompt and its last token
 * alone, which guides it. They are fed as others are, each in its slot. A member whose logits have come waits for those
 * of the others; then tokens are chosen. One member leads: it has the prompt, and what the others have is told in its
 * name.
 */
#ifndef GRAFT_GENERATE_TEAM_H
#define GRAFT_GENERATE_TEAM_H

#include "generate/sequence.h"

struct graft_beams;

struct graft_team {
    struct graft_sequence **members; /* [n]; of beams, in their order */
    struct graft_sequence **order;   /* [n]: room to put them in another */
    struct graft_sequence *lead;
    size_t n;
    size_t n_there;            /* members that have not been freed */
    struct graft_beams *beams; /* NULL: the second member guides the first */
};

/* [any] How many sequences these settings take for a prompt. */
size_t graft_team_size(const struct graft_generation *generation);

/* [load] Makes `lead` the first of a team, if its settings ask for one, with members that are not in a run yet. On
 * failure it is alone. */
int graft_team_create(struct graft_sequence *lead, int64_t vocab_size, struct graft_error *error);

/* [load] The member is being freed; the last one takes the team with it. */
void graft_team_leave(struct graft_sequence *member);

/* [any] Whether the sequence is alone, or leads. */
int graft_team_leads(const struct graft_sequence *sequence);

/* [forward] Keeps the logits of a member (NULL: another process has them). `*is_complete` is 1 once all are there that
 * the next step of the team needs. */
int graft_team_keep(struct graft_sequence *member, const float *logits, int64_t vocab_size, int *is_complete,
                    struct graft_error *error);

/* [forward] All logits have been used, or are to be made again. */
void graft_team_clear(struct graft_team *team);

/* [any] The sequence that a beam goes on from: before there are several, that is the one with the prompt. */
struct graft_sequence *graft_team_origin(const struct graft_team *team, size_t beam);

/* [forward] The guide's logits [n] become the guided scores of the one that leads. */
void graft_team_guide(const struct graft_team *team, int64_t n);

#endif
