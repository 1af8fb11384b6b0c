/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/generate.h"

#include <string.h>

#include "base/alloc.h"
#include "generate/choices.h"
#include "generate/draft.h"
#include "generate/sampler.h"
#include "kernels/kernels.h"
#include "parallel/ranks.h"

/* One sequence: all of its tokens so far, with guesses behind them during a step. */
struct sequence {
    int32_t *ids; /* [count + n_guesses] */
    size_t count;
    size_t n_guesses;
    size_t capacity;
    size_t prompt; /* how many of them are the prompt */
    size_t fed;    /* how many the session holds */
    struct graft_draft draft;
    struct graft_sampler_state state;
};

/* Sequences that take their steps together; those that go on are packed to the front of `slots` and `news`. */
struct group {
    size_t active;
    int32_t *slots;              /* [active]: numbers of sequences */
    struct graft_ids_view *news; /* [active]: what the next step feeds to each */
    enum graft_logits_rows which;
    int32_t is_owed; /* a step was taken, and what rank 0 chose after it is still to come */
};

struct run {
    const struct graft_generation_settings *settings;
    const struct graft_ids_view *prompts; /* [n] */
    struct sequence *sequences;           /* [n] */
    size_t n;
    struct group *groups; /* [n_groups] */
    size_t n_groups;
    struct graft_sampler *sampler;
    struct graft_choices choices;
};

static int reserve(struct sequence *sequence, size_t more, struct graft_error *error) {
    size_t wanted = sequence->count + more;
    while (sequence->capacity < wanted) {
        if (graft_grow(&sequence->ids, &sequence->capacity, sequence->capacity, sizeof *sequence->ids) != 0) {
            return graft_fail_memory(error, "generation");
        }
    }
    return GRAFT_OK;
}

static int sequence_init(struct sequence *sequence, const struct graft_ids_view *prompt, uint64_t seed, size_t number) {
    sequence->ids = graft_alloc(prompt->count, sizeof *sequence->ids);
    if (sequence->ids == NULL) {
        return -1;
    }
    memcpy(sequence->ids, prompt->ids, prompt->count * sizeof *sequence->ids);
    sequence->count = sequence->capacity = sequence->prompt = prompt->count;
    graft_sampler_state_init(&sequence->state, seed, number);
    return 0;
}

/* Every `n_groups`-th sequence, from `first` on. */
static int group_init(struct group *group, const struct run *run, size_t first) {
    size_t n = (run->n - first + run->n_groups - 1) / run->n_groups;
    group->slots = graft_alloc(n, sizeof *group->slots);
    group->news = graft_alloc(n, sizeof *group->news);
    if (group->slots == NULL || group->news == NULL) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        group->slots[i] = (int32_t)(first + i * run->n_groups);
    }
    group->active = run->settings->generation.max_new_tokens > 0 ? n : 0;
    return 0;
}

static int run_init(struct run *run, int64_t vocab_size, struct graft_error *error) {
    int failed = 0;
    run->sequences = graft_alloc(run->n, sizeof *run->sequences);
    run->groups = graft_alloc(run->n_groups, sizeof *run->groups);
    if (run->sequences == NULL || run->groups == NULL) {
        return graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < run->n && !failed; i++) {
        failed = sequence_init(&run->sequences[i], &run->prompts[i], run->settings->generation.seed, i) != 0;
    }
    for (size_t i = 0; i < run->n_groups && !failed; i++) {
        failed = group_init(&run->groups[i], run, i) != 0;
    }
    return failed ? graft_fail_memory(error, "generation") : graft_sampler_create(vocab_size, &run->sampler, error);
}

static void run_finish(struct run *run) {
    for (size_t i = 0; i < run->n && run->sequences != NULL; i++) {
        graft_free(run->sequences[i].ids);
    }
    for (size_t i = 0; i < run->n_groups && run->groups != NULL; i++) {
        graft_free(run->groups[i].slots);
        graft_free(run->groups[i].news);
    }
    graft_free(run->sequences);
    graft_free(run->groups);
    graft_sampler_free(run->sampler);
    graft_choices_finish(&run->choices);
}

static int is_eos(const struct graft_generation_settings *settings, int32_t id) {
    for (int32_t i = 0; i < settings->n_eos && !settings->generation.ignore_eos; i++) {
        if (settings->eos[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* Where new tokens go. */
struct sink {
    graft_token_sink call;
    void *data;
};

/* How many tokens the sequence may still get. */
static size_t left(const struct run *run, const struct sequence *sequence) {
    return (size_t)run->settings->generation.max_new_tokens - (sequence->count - sequence->prompt);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* A sequence that outgrows what it has left behind is fed from its start again. */
static int renew(struct run *run, const struct group *group, struct graft_session *session, struct graft_error *error) {
    size_t renewal = (size_t)graft_session_renewal(session);
    int status = GRAFT_OK;
    for (size_t i = 0; i < group->active && status == GRAFT_OK; i++) {
        struct sequence *sequence = &run->sequences[group->slots[i]];
        int64_t reached = 0;
        if (sequence->fed > 0 && sequence->fed <= renewal && sequence->count > renewal) {
            status = graft_session_rewind(session, group->slots[i], 0, &reached, error);
            sequence->fed = (size_t)reached;
        }
    }
    return status;
}

/* How many guesses a sequence may have: no more than it may get tokens, nor so many that it outgrows its past. */
static size_t most_guesses(const struct run *run, const struct sequence *sequence, size_t renewal, size_t most) {
    most = smaller(most, left(run, sequence) - 1);
    return sequence->count <= renewal ? smaller(most, renewal - sequence->count) : most;
}

/* What the next step feeds: the ids that the session does not hold yet, and guesses behind them, while all together are
 * few enough that each token's result stays what it is alone. */
static int prepare(struct run *run, struct group *group, const struct graft_session *session,
                   struct graft_error *error) {
    size_t renewal = (size_t)graft_session_renewal(session);
    size_t tokens = 0;
    group->which = GRAFT_LOGITS_LAST;
    for (size_t i = 0; i < group->active; i++) {
        const struct sequence *sequence = &run->sequences[group->slots[i]];
        tokens += sequence->count - sequence->fed;
    }
    size_t room = tokens < GRAFT_FEW_TOKENS ? (GRAFT_FEW_TOKENS - tokens) / group->active : 0;
    size_t most = smaller((size_t)run->settings->generation.speculate, room);
    for (size_t i = 0; i < group->active; i++) {
        struct sequence *sequence = &run->sequences[group->slots[i]];
        const struct graft_ids_view *prompt = &run->prompts[group->slots[i]];
        int status = reserve(sequence, most, error);
        if (status != GRAFT_OK) {
            return status;
        }
        sequence->n_guesses = graft_draft_guess(&sequence->draft, sequence->ids, sequence->count,
                                                most_guesses(run, sequence, renewal, most));
        group->which = sequence->n_guesses > 0 ? GRAFT_LOGITS_ALL : group->which;
        group->news[i] = (struct graft_ids_view){.ids = sequence->ids + sequence->fed,
                                                 .count = sequence->count - sequence->fed + sequence->n_guesses,
                                                 .images = sequence->fed == 0 ? prompt->images : NULL,
                                                 .n_images = sequence->fed == 0 ? prompt->n_images : 0};
    }
    return GRAFT_OK;
}

/* Takes the next tokens of a sequence: one, and one more behind each guess that was right. They are picked from rows of
 * logits; without those (NULL) they are what rank 0 chose. Tells the sink. */
static int take(struct run *run, size_t number, const float *logits, int64_t vocab_size, const struct sink *sink,
                int *last, struct graft_error *error) {
    struct sequence *sequence = &run->sequences[number];
    size_t right = 0;
    int is_right = 1;
    *last = 0;
    for (size_t row = 0; is_right && !*last; row++) {
        int32_t id = logits == NULL ? graft_choices_next(&run->choices)
                                    : graft_sampler_pick(run->sampler, &run->settings->generation,
                                                         logits + (int64_t)row * vocab_size, sequence->ids,
                                                         sequence->count, &sequence->state);
        int status = reserve(sequence, 1, error);
        if (status == GRAFT_OK && logits != NULL) {
            status = graft_choices_add(&run->choices, id, error);
        }
        if (status != GRAFT_OK) {
            return status;
        }
        *last = left(run, sequence) == 1 || is_eos(run->settings, id);
        is_right = row < sequence->n_guesses && sequence->ids[sequence->count] == id;
        right += (size_t)is_right;
        sequence->ids[sequence->count++] = id;
        status = sink->call(sink->data, number, id, *last, error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    graft_draft_learn(&sequence->draft, sequence->n_guesses, right);
    return GRAFT_OK;
}

/* Takes the next tokens of all sequences of a group. Of guesses that were wrong the session is made to forget.
 * Sequences that ended are dropped. */
static int advance(struct run *run, struct group *group, struct graft_session *session, const float *logits,
                   int64_t vocab_size, const struct sink *sink, struct graft_error *error) {
    size_t kept = 0;
    int64_t row = 0;
    for (size_t i = 0; i < group->active; i++) {
        int32_t slot = group->slots[i];
        struct sequence *sequence = &run->sequences[slot];
        size_t fed = group->news[i].count;
        size_t guesses = sequence->n_guesses;
        int64_t reached = 0;
        int last = 0;
        row += group->which == GRAFT_LOGITS_ALL ? (int64_t)(fed - guesses - 1) : 0;
        int status =
            take(run, (size_t)slot, logits != NULL ? logits + row * vocab_size : NULL, vocab_size, sink, &last, error);
        row += (int64_t)guesses + 1;
        sequence->fed += fed;
        if (status == GRAFT_OK && !last && sequence->fed >= sequence->count) {
            status = graft_session_rewind(session, slot, (int64_t)sequence->count - 1, &reached, error);
            sequence->fed = (size_t)reached;
        }
        if (status != GRAFT_OK) {
            return status;
        }
        if (!last) {
            group->slots[kept++] = slot;
        }
    }
    group->active = kept;
    return GRAFT_OK;
}

/* How many tokens a step of the group can give at most. */
static size_t most_choices(const struct run *run, const struct group *group) {
    size_t most = 0;
    for (size_t i = 0; i < group->active; i++) {
        most += run->sequences[group->slots[i]].n_guesses + 1;
    }
    return most;
}

/* Rank 0 chooses after each step, and tells the others. These go on with the next group, and ask when they come back to
 * this one: where each has some of the layers, all have work while there is more than one group. */
static int step(struct run *run, struct group *group, struct graft_session *session, int64_t vocab_size,
                const struct sink *sink, struct graft_error *error) {
    const float *logits = NULL;
    int status = GRAFT_OK;
    if (group->is_owed) {
        group->is_owed = 0;
        status = graft_choices_receive(&run->choices, most_choices(run, group), error);
        status = status == GRAFT_OK ? advance(run, group, session, NULL, vocab_size, sink, error) : status;
    }
    if (status != GRAFT_OK || group->active == 0) {
        return status;
    }
    status = renew(run, group, session, error);
    if (status == GRAFT_OK) {
        status = prepare(run, group, session, error);
    }
    size_t most = most_choices(run, group);
    if (status == GRAFT_OK) {
        status = graft_session_step(session, group->slots, group->news, group->active, group->which, &logits, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (!graft_ranks_leads()) {
        group->is_owed = 1;
        return GRAFT_OK;
    }
    graft_choices_clear(&run->choices);
    status = advance(run, group, session, logits, vocab_size, sink, error);
    return status == GRAFT_OK ? graft_choices_send(&run->choices, most, error) : status;
}

static int is_over(const struct run *run) {
    for (size_t i = 0; i < run->n_groups; i++) {
        if (run->groups[i].active > 0) {
            return 0;
        }
    }
    return 1;
}

int graft_generate(struct graft_session *session, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error) {
    const struct sink to = {sink, data};
    size_t groups = (size_t)graft_session_stages(session);
    struct run run = {.settings = settings, .prompts = prompts, .n = n, .n_groups = smaller(groups, n)};
    int status = run_init(&run, vocab_size, error);
    while (status == GRAFT_OK && !is_over(&run)) {
        for (size_t i = 0; i < run.n_groups && status == GRAFT_OK; i++) {
            status = step(&run, &run.groups[i], session, vocab_size, &to, error);
        }
    }
    run_finish(&run);
    return status;
}
