/* SPDX-License-Identifier: Apache-2.0 */
/* A run: sequences of one session that are added and removed at any time, and take their steps together. A sequence's
 * results do not depend on the others (see graft/host/sequences.h). */
#ifndef GRAFT_GENERATE_RUN_H
#define GRAFT_GENERATE_RUN_H

#include "generate/sequence.h"
#include "generate/session.h"
#include "graft/host/sequences.h"

struct graft_run;

struct graft_run_options {
    int64_t vocab_size;
    int32_t slots;          /* number of slots of the session */
    size_t piece;           /* tokens of a prompt that are fed at once, more than GRAFT_SMALL_BATCH; 0: all of them */
    size_t forward_tokens;  /* the most tokens of several prompts in one forward */
    size_t step_tokens;     /* the most tokens of prompts in one step, rounded up to whole forwards */
    int64_t max_positions;  /* positions of a sequence; 0: no limit */
    int guesses_nothing;    /* tokens see later ones, so nothing may be guessed */
    int64_t bytes;          /* budget for what sequences keep; 0: no limit */
    int64_t token_bytes;    /* bytes that a sequence keeps for each token; used with `bytes` */
    int64_t sequence_bytes; /* bytes that a sequence keeps, whatever its length */
    int32_t has_teams;      /* 1: a sequence may have further sequences in a team, each with a slot (team.h) */
};

/* [load] Creates a run of a session whose slots are all empty, and which must outlive the run. */
int graft_run_create(struct graft_session *session, const struct graft_run_options *options, struct graft_run **run,
                     struct graft_error *error);
void graft_run_free(struct graft_run *run);

/* [load] Adds a sequence and gives it a number. On success the run owns it; after an error it stays the caller's. With
 * beams or guidance the run adds the other sequences that the prompt needs. */
int graft_run_add(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error);

/* [load] Removes a sequence. Returns -1 if there is none with that number. */
int graft_run_remove(struct graft_run *run, int64_t number);

/* [any] How many sequences there are. */
size_t graft_run_count(const struct graft_run *run);

/* Called for a new token. `logits` [vocab_size] are those that it was chosen from, valid during the call; NULL if
 * another process chose it. Any status but GRAFT_OK ends the step. */
typedef int (*graft_run_sink)(void *data, const struct graft_sequence *sequence, int32_t id, int32_t end,
                              const float *logits, struct graft_error *error);

/* [forward] Performs one step (graft_sequences_step). If layers are spread over several processes, the processes that
 * do not choose tokens get them one step later, and all make the same calls. */
int graft_run_step(struct graft_run *run, graft_run_sink sink, void *data, struct graft_error *error);

/* [any] How many tokens of a prompt are fed at once; 0: prompts are fed whole. */
size_t graft_run_piece(const struct graft_run *run);

/* The first tokens of a prompt, whose keys and values a slot holds. */
struct graft_run_prefix {
    const int32_t *ids; /* [count] owned by the run, valid until its next call */
    size_t count;       /* a multiple of graft_run_piece */
    int32_t slot;
};

/* [any] The longest prefix of a sequence added by graft_run_add that has been read and is still in its slot. `count` is
 * 0 if there is none, or if a prefix of graft_run_use_prefix covers it. */
struct graft_run_prefix graft_run_longest_prefix(const struct graft_run *run);

/* [any] Returns the longest prefix that two prompts have in common, if its keys and values are still in a slot. A
 * prefix of which files hold more than three quarters is passed over, so that a growing conversation is not written at
 * each turn. `count` is 0 if there is none. */
struct graft_run_prefix graft_run_shared_prefix(const struct graft_run *run);
/* [load] Records that a file has this prefix. */
void graft_run_keep_prefix(struct graft_run *run, const struct graft_run_prefix *prefix);

/* [any] How many tokens at the beginning of `ids` [count] are in a slot, in whole pieces. */
size_t graft_run_known(const struct graft_run *run, const int32_t *ids, size_t count);

/* [load] Reserves a slot for a prefix from a file. prefix->slot becomes that slot, or -1 if none is free. The caller
 * fills in keys and values, then calls graft_run_use_prefix, which lets sequences share them. */
int graft_run_make_prefix(struct graft_run *run, struct graft_run_prefix *prefix, struct graft_error *error);
void graft_run_use_prefix(struct graft_run *run, const struct graft_run_prefix *prefix);

/* [any] Adds the run's counts to the fields of `counts`. */
void graft_run_get_counts(const struct graft_run *run, struct graft_sequences_counts *counts);

#endif
