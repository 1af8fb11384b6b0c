/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: sequences of one session that come and go and take their steps together. What a sequence gets does not depend
 * on the others (graft/host/sequences.h says how).
 */
#ifndef GRAFT_GENERATE_RUN_H
#define GRAFT_GENERATE_RUN_H

#include "generate/sequence.h"
#include "generate/session.h"
#include "graft/host/sequences.h"

struct graft_run;

struct graft_run_options {
    int64_t vocab_size;
    int32_t slots;          /* of the session */
    size_t piece;           /* tokens of a prompt that are fed at once, more than GRAFT_SMALL_BATCH; 0: all of them */
    size_t forward_tokens;  /* so many of several prompts may share a forward */
    size_t step_tokens;     /* of prompts, that a step feeds; rounded up to forwards */
    int64_t max_positions;  /* of a sequence; 0: no limit */
    int guesses_nothing;    /* tokens see those behind them, so no guess may follow one */
    int64_t bytes;          /* that sequences may leave behind; 0: no limit */
    int64_t token_bytes;    /* what one leaves behind for each token; used with `bytes` */
    int64_t sequence_bytes; /* and however long it is */
    int32_t has_teams;      /* 1: sequences may take others with them, each a slot (team.h) */
};

/* [load] A run of a session whose slots are empty, and which outlives it. */
int graft_run_create(struct graft_session *session, const struct graft_run_options *options, struct graft_run **run,
                     struct graft_error *error);
void graft_run_free(struct graft_run *run);

/* [load] Adds a sequence and gives it a number. On success the run owns it; after an error it stays the caller's. With
 * beams or guidance the run adds the other sequences that the prompt needs. */
int graft_run_add(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error);

/* [load] Takes a sequence out. Returns -1 if there is none with that number. */
int graft_run_remove(struct graft_run *run, int64_t number);

/* [any] How many sequences there are. */
size_t graft_run_count(const struct graft_run *run);

/* A new token. `logits` [vocab_size]: what it was chosen from, valid during the call; NULL where another process has
 * chosen it. Any status but GRAFT_OK ends the step. */
typedef int (*graft_run_sink)(void *data, const struct graft_sequence *sequence, int32_t id, int32_t end,
                              const float *logits, struct graft_error *error);

/* [forward] One step (graft_sequences_step). Where the layers are spread over several processes, those that do not
 * choose hear of tokens a step later, and all make the same calls. */
int graft_run_step(struct graft_run *run, graft_run_sink sink, void *data, struct graft_error *error);

/* [any] How many tokens of a prompt are fed at once; 0: prompts are fed whole. */
size_t graft_run_piece(const struct graft_run *run);

/* The first tokens of a prompt, whose keys and values a slot holds. */
struct graft_run_prefix {
    const int32_t *ids; /* [count] owned by the run, valid until its next call */
    size_t count;       /* a multiple of graft_run_piece */
    int32_t slot;
};

/* [any] The longest prefix that a sequence of graft_run_add has read and that is still in its slot. `count` is 0 if
 * there is none, or if a prefix of graft_run_use_prefix has all of it already. */
struct graft_run_prefix graft_run_longest_prefix(const struct graft_run *run);

/* [any] A beginning that two prompts have had in common, that is still in a slot, and of which files have not as much
 * yet: a third more than they have, so that a conversation that grows is not written at each turn. `count` is 0 if
 * there is none. */
struct graft_run_prefix graft_run_shared_prefix(const struct graft_run *run);
/* [load] Remembers that a file has this prefix. */
void graft_run_keep_prefix(struct graft_run *run, const struct graft_run_prefix *prefix);

/* [any] How many tokens at the beginning of `ids` [count] are in a slot, in whole pieces. */
size_t graft_run_known(const struct graft_run *run, const int32_t *ids, size_t count);

/* [load] Reserves a slot for a prefix that comes from elsewhere. prefix->slot becomes that slot, or -1 if there is none
 * free. The caller puts keys and values in, and then calls graft_run_use_prefix, which lets sequences share them. */
int graft_run_make_prefix(struct graft_run *run, struct graft_run_prefix *prefix, struct graft_error *error);
void graft_run_use_prefix(struct graft_run *run, const struct graft_run_prefix *prefix);

/* [any] Adds to the fields of `counts`. */
void graft_run_get_counts(const struct graft_run *run, struct graft_sequences_counts *counts);

#endif
