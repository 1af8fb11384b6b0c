/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a run, for the files run*.c. */
#ifndef GRAFT_GENERATE_RUN_PARTS_H
#define GRAFT_GENERATE_RUN_PARTS_H

#include "generate/choices.h"
#include "generate/run.h"
#include "generate/team.h"
#include "graft/batch.h"

/* One sequence's part of a forward. */
struct graft_feed {
    struct graft_sequence *sequence;
    size_t count;   /* number of ids, including guesses */
    size_t guesses; /* how many of them are guesses */
    int gives;      /* 1: the forward yields the sequence's next token */
};

/* Sequences that take their steps together; those in every n_groups-th slot. */
struct graft_run_group {
    struct graft_feed *feeds; /* [n_feeds] of the current step, or of the last one, whose tokens have not arrived yet */
    size_t n_feeds;
    size_t capacity;
};

struct graft_run {
    struct graft_session *session;
    struct graft_run_options options;
    struct graft_sequence **sequences; /* [n]: waiting and running sequences, by number */
    size_t n;
    size_t capacity;
    struct graft_sequence **slots; /* [options.slots]: running and finished sequences */
    struct graft_run_group *groups;
    size_t n_groups;
    int64_t next_number;
    int64_t bytes; /* reserved */
    struct graft_sampler *sampler;
    struct graft_choices choices;
    struct graft_sequences_counts counts;
    int64_t prompt_tokens; /* tokens of the prompts of all sequences ever added */
    int64_t failed;        /* the sequence whose next token the last step failed to choose; -1: none */
};

/* Lets running sequences reuse the keys and values of pieces with which their prompts begin, if other sequences have
 * computed them. */
int graft_run_share(struct graft_run *run, struct graft_error *error);

/* Whether the sequence's keys and values depend only on the ids and the adapter, so that other sequences may reuse
 * them. */
int graft_run_can_share(const struct graft_run *run, const struct graft_sequence *sequence);

/* How many tokens of its prompt the sequence has read. */
size_t graft_run_has_read(const struct graft_sequence *sequence);

/* Whether another sequence is computing what this one will reuse. */
int graft_run_waits(const struct graft_run *run, const struct graft_sequence *sequence);

/* The receiver of new tokens. */
struct graft_run_output {
    graft_run_sink call;
    void *data;
};

/* Adds the next token to a sequence. It is picked from `scores` [vocab_size]; if `scores` is NULL, it is the token that
 * rank 0 chose. The output's sink gets the token and `logits`. If the sequence ends with this token, `*end` becomes the
 * reason. */
int graft_run_take_one(struct graft_run *run, struct graft_sequence *sequence, const float *scores, const float *logits,
                       const struct graft_run_output *output, int32_t *end, struct graft_error *error);

/* Takes the logits of a member of a team (NULL: another process has them). Once all members have theirs, performs the
 * team's next step. */
int graft_run_step_team(struct graft_run *run, struct graft_sequence *member, const float *logits,
                        const struct graft_run_output *output, struct graft_error *error);

/* How many ids a step of the team sends. */
size_t graft_run_team_choices(const struct graft_team *team);

/* Performs one step of group `number`. */
int graft_run_step_group(struct graft_run *run, size_t number, const struct graft_run_output *output,
                         struct graft_error *error);

/* Gives a waiting sequence a slot and its share of memory. If there is no free slot or not enough memory, its slot
 * stays -1. */
int graft_run_seat(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error);

/* Ends the sequence; it stays in its slot until the slot is needed. */
void graft_run_end(struct graft_sequence *sequence);

#endif
