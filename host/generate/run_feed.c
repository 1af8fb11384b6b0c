/* SPDX-License-Identifier: Apache-2.0 */
/* What a step feeds. First all generated tokens, together with short prompts and guesses, GRAFT_SMALL_BATCH at a time:
 * each is computed as if it were alone. Then pieces of longer prompts, of as many sequences as may share a forward: a
 * piece has more tokens than GRAFT_SMALL_BATCH, so all of these are computed as large batches, and the borders of
 * pieces depend only on their own prompt. */
#include "base/alloc.h"
#include "base/context.h"
#include "generate/run_parts.h"
#include "graft/host/process.h"
#include "parallel/ranks.h"

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many ids of a running sequence the next forward feeds, without guesses: all that the session lacks, or a piece of
 * the prompt. */
static size_t next_count(const struct graft_run *run, const struct graft_sequence *sequence) {
    size_t piece = run->options.piece;
    size_t end = sequence->count;
    if (sequence->fed < sequence->reading && piece > 0 && sequence->n_images == 0) {
        size_t next = (sequence->fed / piece + 1) * piece;
        end = next < sequence->reading ? next : end;
    }
    return end - sequence->fed;
}

/* What one forward computes: its sequences, with the new tokens and the slot of each. */
struct forward {
    struct graft_sequence *members[GRAFT_SMALL_BATCH];
    struct graft_ids_view news[GRAFT_SMALL_BATCH];
    int32_t slots[GRAFT_SMALL_BATCH];
    size_t n;
    size_t tokens;
};

static int add_feed(struct graft_run_group *group, const struct graft_feed *feed, struct graft_error *error) {
    if (graft_grow(&group->feeds, &group->capacity, group->n_feeds, sizeof *group->feeds) != 0) {
        return graft_fail_memory(error, "generation");
    }
    group->feeds[group->n_feeds++] = *feed;
    return GRAFT_OK;
}

static int pick(struct graft_run *run, struct graft_sequence *sequence, const float *scores, int32_t *id,
                struct graft_error *error) {
    int status = graft_sequence_start_processors(sequence, run->options.vocab_size, error);
    const struct graft_choice choice = graft_sequence_choice(sequence);
    if (status == GRAFT_OK) {
        status = graft_sampler_pick(run->sampler, &choice, scores, &sequence->state, id, error);
    }
    return status == GRAFT_OK ? graft_choices_add(&run->choices, *id, error) : status;
}

int graft_run_take_one(struct graft_run *run, struct graft_sequence *sequence, const float *scores, const float *logits,
                       const struct graft_run_output *output, int32_t *end, struct graft_error *error) {
    int32_t id = 0;
    int status = graft_sequence_reserve(sequence, 1, error);
    if (status == GRAFT_OK && scores != NULL) {
        status = pick(run, sequence, scores, &id, error);
    } else if (status == GRAFT_OK) {
        id = graft_choices_next(&run->choices);
    }
    if (status == GRAFT_OK) {
        status = graft_sequence_append(sequence, id, end, error);
    }
    return status == GRAFT_OK ? output->call(output->data, sequence, id, *end, logits, error) : status;
}

/* Takes the next tokens of a sequence: one, and one more after each correct guess. They are picked from rows of logits;
 * if `rows` is NULL, rank 0 chose them. */
static int take(struct graft_run *run, const struct graft_feed *feed, const float *rows,
                const struct graft_run_output *output, int32_t *end, struct graft_error *error) {
    struct graft_sequence *sequence = feed->sequence;
    size_t right = 0;
    int is_right = 1;
    *end = GRAFT_SEQUENCE_RUNNING;
    for (size_t i = 0; is_right && *end == GRAFT_SEQUENCE_RUNNING; i++) {
        const float *logits = rows != NULL ? rows + (int64_t)i * run->options.vocab_size : NULL;
        const int32_t guess = i < feed->guesses ? sequence->ids[sequence->count] : -1;
        int status = graft_run_take_one(run, sequence, logits, logits, output, end, error);
        if (status != GRAFT_OK) {
            return status;
        }
        is_right = sequence->ids[sequence->count - 1] == guess;
        right += (size_t)is_right;
    }
    graft_draft_learn(&sequence->draft, feed->guesses, right);
    return GRAFT_OK;
}

/* Rewinds a sequence whose tokens have all been fed, so that the next step feeds it again: by one token after wrong
 * guesses; by everything that was fed if it got no token, because a piece of a prompt is computed as a whole. */
static int take_back(struct graft_run *run, const struct graft_feed *feed, struct graft_error *error) {
    struct graft_sequence *sequence = feed->sequence;
    const int got_none = sequence->fed == sequence->count + feed->guesses;
    const size_t length = got_none ? sequence->fed - feed->count : sequence->count - 1;
    int64_t reached = 0;
    int status = graft_session_rewind(run->session, sequence->slot, (int64_t)length, &reached, error);
    sequence->fed = (size_t)reached;
    return status;
}

/* Gives a sequence the results of a feed that gives logits, and removes wrong guesses from the session. */
static int finish_feed(struct graft_run *run, const struct graft_feed *feed, const float *rows,
                       const struct graft_run_output *output, struct graft_error *error) {
    struct graft_sequence *sequence = feed->sequence;
    int32_t end = GRAFT_SEQUENCE_RUNNING;
    if (sequence->team != NULL) {
        const int team_status = graft_run_step_team(run, sequence, rows, output, error);
        run->failed = team_status != GRAFT_OK ? sequence->number : run->failed;
        return team_status;
    }
    int status = take(run, feed, rows, output, &end, error);
    run->failed = status != GRAFT_OK ? sequence->number : run->failed;
    if (end != GRAFT_SEQUENCE_RUNNING) {
        graft_run_end(sequence);
    } else if (sequence->fed >= sequence->count) {
        int rewound = take_back(run, feed, error);
        status = status == GRAFT_OK ? rewound : status;
    }
    return status;
}

/* How many rows of logits precede the next sequence's. */
static int64_t rows_before(const struct graft_feed *feed, enum graft_logits_rows which) {
    return which == GRAFT_LOGITS_ALL ? (int64_t)(feed->count - feed->guesses - 1) : 0;
}

/* Runs a forward; if tokens are chosen in this process, the sequences get theirs at once. */
static int run_forward(struct graft_run *run, struct graft_run_group *group, const struct forward *forward,
                       const struct graft_run_output *output, struct graft_error *error) {
    enum graft_logits_rows which = GRAFT_LOGITS_NONE;
    const float *rows = NULL; /* stays NULL if no sequence gives logits */
    int64_t row = 0;
    size_t first = group->n_feeds;
    int status = GRAFT_OK;
    for (size_t i = 0; i < forward->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = forward->members[i];
        size_t guesses = sequence->n_guesses;
        size_t count = forward->news[i].count;
        const struct graft_feed feed = {sequence, count, guesses, sequence->fed + count == sequence->count + guesses};
        which = which == GRAFT_LOGITS_NONE && feed.gives ? GRAFT_LOGITS_LAST : which;
        which = guesses > 0 ? GRAFT_LOGITS_ALL : which;
        status = add_feed(group, &feed, error);
        run->counts.prompt_tokens +=
            (int64_t)(smaller(sequence->fed + count, sequence->prompt) - smaller(sequence->fed, sequence->prompt));
    }
    if (status == GRAFT_OK) {
        status = graft_session_step(run->session, forward->slots, forward->news, forward->n, which, &rows, error);
    }
    if (status != GRAFT_OK) {
        group->n_feeds = first;
        return status;
    }
    run->counts.forwards++;
    for (size_t i = first; i < group->n_feeds; i++) {
        group->feeds[i].sequence->fed += group->feeds[i].count;
    }
    for (size_t i = first; i < group->n_feeds && graft_ranks_leads(); i++) {
        const struct graft_feed *feed = &group->feeds[i];
        if (status != GRAFT_OK && feed->gives) {
            (void)take_back(run, feed, NULL); /* an earlier sequence of this forward failed */
            continue;
        }
        row += rows_before(feed, which);
        if (feed->gives) {
            status = finish_feed(run, feed, rows + row * run->options.vocab_size, output, error);
        }
        row += (int64_t)feed->guesses + 1;
    }
    return status;
}

static void add_member(struct forward *forward, struct graft_sequence *sequence, size_t count) {
    int is_start = sequence->fed == 0;
    forward->members[forward->n] = sequence;
    forward->slots[forward->n] = sequence->slot;
    forward->news[forward->n++] = (struct graft_ids_view){.count = count,
                                                          .images = is_start ? sequence->images : NULL,
                                                          .n_images = is_start ? sequence->n_images : 0,
                                                          .source = sequence->source,
                                                          .n_source = is_start ? sequence->n_source : 0};
    forward->tokens += count;
}

/* How many guesses a sequence may have: at most as many as it may get tokens and has positions and memory for. None if
 * each further token changes the rotation of earlier ones (prompts are then not split), or if tokens would see the
 * guesses after them. */
static size_t most_guesses(const struct graft_run *run, const struct graft_sequence *sequence, size_t room) {
    size_t renewal = (size_t)graft_session_renewal(run->session);
    if (run->options.guesses_nothing || (run->options.piece == 0 && renewal == 0)) {
        return 0;
    }
    size_t most = smaller(room, graft_sequence_left(sequence) - 1);
    if (sequence->most > 0) {
        most = smaller(most, (size_t)sequence->most - sequence->count);
    }
    most = smaller(most, (size_t)sequence->generation.speculate);
    return sequence->count <= renewal ? smaller(most, renewal - sequence->count) : most;
}

/* Adds guesses as long as the forward may have more tokens, and runs it. */
static int run_gemv(struct graft_run *run, struct graft_run_group *group, struct forward *forward,
                    const struct graft_run_output *output, struct graft_error *error) {
    size_t room = forward->n > 0 ? (GRAFT_SMALL_BATCH - forward->tokens) / forward->n : 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < forward->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = forward->members[i];
        size_t most = most_guesses(run, sequence, room);
        status = graft_sequence_reserve(sequence, most, error);
        if (status == GRAFT_OK) {
            sequence->n_guesses = graft_draft_guess(&sequence->draft, sequence->ids, sequence->count, most);
            forward->news[i].count += sequence->n_guesses;
            forward->news[i].ids = sequence->ids + sequence->fed;
        }
    }
    if (status == GRAFT_OK && forward->n > 0) {
        status = run_forward(run, group, forward, output, error);
    }
    for (size_t i = 0; i < forward->n; i++) {
        forward->members[i]->n_guesses = 0;
    }
    *forward = (struct forward){.n = 0};
    return status;
}

static int is_of(const struct graft_run *run, size_t group, const struct graft_sequence *sequence) {
    return sequence->stage == GRAFT_SEQUENCE_RUNS && (size_t)sequence->slot % run->n_groups == group;
}

static int feed_few(struct graft_run *run, size_t number, const struct graft_run_output *output,
                    struct graft_error *error) {
    struct graft_run_group *group = &run->groups[number];
    struct forward forward = {.n = 0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < run->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        size_t count = is_of(run, number, sequence) ? next_count(run, sequence) : 0;
        if (count == 0 || count > GRAFT_SMALL_BATCH) {
            continue;
        }
        if (forward.tokens + count > GRAFT_SMALL_BATCH) {
            status = run_gemv(run, group, &forward, output, error);
        }
        add_member(&forward, sequence, count);
    }
    return status == GRAFT_OK ? run_gemv(run, group, &forward, output, error) : status;
}

/* Whether a feed of the current step has given the sequence a token, or will. */
static int has_token(const struct graft_run_group *group, const struct graft_sequence *sequence) {
    for (size_t i = 0; i < group->n_feeds; i++) {
        if (group->feeds[i].sequence == sequence && group->feeds[i].gives) {
            return 1;
        }
    }
    return 0;
}

/* How many tokens of its prompt the sequence contributes to a forward of pieces; 0: none. */
static size_t piece_of(const struct graft_run *run, size_t number, const struct graft_sequence *sequence) {
    if (!is_of(run, number, sequence) || has_token(&run->groups[number], sequence) || graft_run_waits(run, sequence)) {
        return 0;
    }
    size_t count = next_count(run, sequence);
    return count > GRAFT_SMALL_BATCH ? count : 0;
}

/* Gathers the next piece of the first sequence that has one, and of as many later ones as there is room for. Each piece
 * gives one row of logits, which the head computes as a small batch. */
static void gather_pieces(const struct graft_run *run, size_t number, struct forward *forward) {
    *forward = (struct forward){.n = 0};
    for (size_t i = 0; i < run->n && forward->n < GRAFT_SMALL_BATCH; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        size_t count = piece_of(run, number, sequence);
        if (count > 0 && (forward->n == 0 || forward->tokens + count <= run->options.forward_tokens)) {
            add_member(forward, sequence, count);
            forward->news[forward->n - 1].ids = sequence->ids + sequence->fed;
        }
    }
}

/* Feeds pieces of prompts, those of earlier sequences first. Once a piece is fed, other sequences may share it. */
static int feed_pieces(struct graft_run *run, size_t number, const struct graft_run_output *output,
                       struct graft_error *error) {
    struct forward forward;
    size_t fed = 0;
    int status = GRAFT_OK;
    gather_pieces(run, number, &forward);
    while (status == GRAFT_OK && forward.n > 0 && fed < run->options.step_tokens) {
        fed += forward.tokens;
        status = run_forward(run, &run->groups[number], &forward, output, error);
        status = status == GRAFT_OK ? graft_run_share(run, error) : status;
        int64_t read = run->counts.prompt_tokens + run->counts.shared_tokens;
        graft_context_tell(GRAFT_PROGRESS_PROMPT, read < run->prompt_tokens ? read : run->prompt_tokens,
                           run->prompt_tokens);
        gather_pieces(run, number, &forward);
    }
    return status;
}

/* Rewinds sequences to their start that have outgrown the length for which their keys were rotated. */
static int renew(struct graft_run *run, size_t group, struct graft_error *error) {
    size_t renewal = (size_t)graft_session_renewal(run->session);
    int status = GRAFT_OK;
    for (size_t i = 0; i < run->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        int64_t reached = 0;
        if (is_of(run, group, sequence) && sequence->fed > 0 && sequence->fed <= renewal && sequence->count > renewal) {
            status = graft_session_rewind(run->session, sequence->slot, 0, &reached, error);
            sequence->fed = (size_t)reached;
            sequence->reading = sequence->count;
        }
    }
    return status;
}

/* The most tokens that the feeds of a step can give. */
static size_t most_choices(const struct graft_run_group *group) {
    size_t most = 0;
    for (size_t i = 0; i < group->n_feeds; i++) {
        const struct graft_feed *feed = &group->feeds[i];
        const struct graft_team *team = feed->sequence->team;
        most += !feed->gives ? 0 : team != NULL ? graft_run_team_choices(team) : feed->guesses + 1;
    }
    return most;
}

/* Receives what rank 0 chose after the last step of this group. */
static int hear(struct graft_run *run, struct graft_run_group *group, const struct graft_run_output *output,
                struct graft_error *error) {
    size_t most = most_choices(group);
    int status = most > 0 ? graft_choices_receive(&run->choices, most, error) : GRAFT_OK;
    for (size_t i = 0; i < group->n_feeds && status == GRAFT_OK; i++) {
        if (group->feeds[i].gives) {
            status = finish_feed(run, &group->feeds[i], NULL, output, error);
        }
    }
    return status;
}

/* Rank 0 chooses tokens after each step, and sends them to the other ranks. Those continue with the next group, and
 * receive the tokens when they return to this group; so if each rank has some of the layers, all are busy while there
 * is more than one group. */
int graft_run_step_group(struct graft_run *run, size_t number, const struct graft_run_output *output,
                         struct graft_error *error) {
    struct graft_run_group *group = &run->groups[number];
    int status = graft_ranks_leads() ? GRAFT_OK : hear(run, group, output, error);
    group->n_feeds = 0;
    graft_choices_clear(&run->choices);
    if (status == GRAFT_OK) {
        status = renew(run, number, error);
    }
    if (status == GRAFT_OK) {
        status = graft_run_share(run, error);
    }
    if (status == GRAFT_OK) {
        status = feed_few(run, number, output, error);
    }
    if (status == GRAFT_OK) {
        status = feed_pieces(run, number, output, error);
    }
    size_t most = most_choices(group);
    return status == GRAFT_OK && graft_ranks_leads() && most > 0 ? graft_choices_send(&run->choices, most, error)
                                                                 : status;
}
