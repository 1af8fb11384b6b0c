/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a run, for the files run*.c. */
#ifndef GRAFT_GENERATE_RUN_PARTS_H
#define GRAFT_GENERATE_RUN_PARTS_H

#include "generate/choices.h"
#include "generate/run.h"
#include "generate/team.h"
#include "graft/batch.h"

/* What a forward was given of one sequence. */
struct graft_feed {
    struct graft_sequence *sequence;
    size_t count;   /* ids, guesses included */
    size_t guesses; /* how many of them */
    int gives;      /* whether its next token follows */
};

/* Sequences that take their steps together; those in every n_groups-th slot. */
struct graft_run_group {
    struct graft_feed *feeds; /* [n_feeds] of the step under way, or of the last one, whose tokens are still to come */
    size_t n_feeds;
    size_t capacity;
};

struct graft_run {
    struct graft_session *session;
    struct graft_run_options options;
    struct graft_sequence **sequences; /* [n]: those that wait or run, by number */
    size_t n;
    size_t capacity;
    struct graft_sequence **slots; /* [options.slots]: those that run, and those that are over */
    struct graft_run_group *groups;
    size_t n_groups;
    int64_t next_number;
    int64_t bytes; /* reserved */
    struct graft_sampler *sampler;
    struct graft_choices choices;
    struct graft_sequences_counts counts;
    int64_t prompt_tokens; /* of all sequences that were added */
    int64_t failed;        /* the sequence whose next token the last step failed to choose; -1: none */
};

/* How many ids the next forward feeds of a running sequence, without guesses: all that the session lacks, or a piece of
 * a prompt. */
size_t graft_run_next_count(const struct graft_run *run, const struct graft_sequence *sequence);

/* Takes over from others what the pieces that begin the prompts of running sequences have left behind. */
int graft_run_share(struct graft_run *run, struct graft_error *error);

/* Whether what the sequence's tokens leave behind depends on nothing but the ids and the adapter, so that others may
 * take it over. */
int graft_run_can_share(const struct graft_run *run, const struct graft_sequence *sequence);

/* How many tokens of its prompt the sequence has read. */
size_t graft_run_has_read(const struct graft_sequence *sequence);

/* Whether another sequence is reading what this one will take over. */
int graft_run_waits(const struct graft_run *run, const struct graft_sequence *sequence);

/* Where new tokens go. */
struct graft_run_output {
    graft_run_sink call;
    void *data;
};

/* Adds the next token to a sequence. It is picked from `scores` [vocab_size]; where `scores` is NULL, it is the token
 * that rank 0 chose. The output's sink gets the token and `logits`. `*end` becomes the reason why the sequence ends
 * with this token, if it does. */
int graft_run_take_one(struct graft_run *run, struct graft_sequence *sequence, const float *scores, const float *logits,
                       const struct graft_run_output *output, int32_t *end, struct graft_error *error);

/* Takes the logits of a member of a team (NULL: another process has them); once all are there, its next step. */
int graft_run_settle_team(struct graft_run *run, struct graft_sequence *member, const float *logits,
                          const struct graft_run_output *output, struct graft_error *error);

/* How many choices a step of the team makes. */
size_t graft_run_team_choices(const struct graft_team *team);

/* One step of group `number`. */
int graft_run_step_group(struct graft_run *run, size_t number, const struct graft_run_output *output,
                         struct graft_error *error);

/* Gives a waiting sequence a slot and its share of memory. If there is no free slot or not enough memory, its slot
 * stays -1. */
int graft_run_seat(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error);

/* The sequence is over; it stays in its slot until that is wanted. */
void graft_run_end(struct graft_sequence *sequence);

#endif
