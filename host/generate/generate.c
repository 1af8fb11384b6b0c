/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/generate.h"

#include <string.h>

#include "base/alloc.h"
#include "generate/draft.h"
#include "generate/sampler.h"
#include "kernels/kernels.h"

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

/* The sequences of a run; those that go on are packed to the front of `slots` and `news`. */
struct run {
    const struct graft_generation_settings *settings;
    const struct graft_ids_view *prompts; /* [n] */
    struct sequence *sequences;           /* [n] */
    size_t n;
    size_t active;
    int32_t *slots;              /* [active]: numbers of sequences */
    struct graft_ids_view *news; /* [active]: what the next step feeds to each */
    struct graft_sampler *sampler;
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

static int run_init(struct run *run, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                    const struct graft_generation_settings *settings, struct graft_error *error) {
    *run = (struct run){.settings = settings, .prompts = prompts, .n = n};
    run->sequences = graft_alloc(n, sizeof *run->sequences);
    run->slots = graft_alloc(n, sizeof *run->slots);
    run->news = graft_alloc(n, sizeof *run->news);
    if (run->sequences == NULL || run->slots == NULL || run->news == NULL) {
        run->n = 0;
        return graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < n; i++) {
        struct sequence *sequence = &run->sequences[i];
        sequence->ids = graft_alloc(prompts[i].count, sizeof *sequence->ids);
        if (sequence->ids == NULL) {
            return graft_fail_memory(error, "generation");
        }
        memcpy(sequence->ids, prompts[i].ids, prompts[i].count * sizeof *sequence->ids);
        sequence->count = sequence->capacity = sequence->prompt = prompts[i].count;
        graft_sampler_state_init(&sequence->state, settings->generation.seed, i);
        run->slots[i] = (int32_t)i;
    }
    run->active = settings->generation.max_new_tokens > 0 ? n : 0;
    return graft_sampler_create(vocab_size, &run->sampler, error);
}

static void run_finish(struct run *run) {
    for (size_t i = 0; i < run->n; i++) {
        graft_free(run->sequences[i].ids);
    }
    graft_free(run->sequences);
    graft_free(run->slots);
    graft_free(run->news);
    graft_sampler_free(run->sampler);
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
static int renew(struct run *run, struct graft_session *session, struct graft_error *error) {
    size_t renewal = (size_t)graft_session_renewal(session);
    int status = GRAFT_OK;
    for (size_t i = 0; i < run->active && status == GRAFT_OK; i++) {
        struct sequence *sequence = &run->sequences[run->slots[i]];
        int64_t reached = 0;
        if (sequence->fed > 0 && sequence->fed <= renewal && sequence->count > renewal) {
            status = graft_session_rewind(session, run->slots[i], 0, &reached, error);
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
static int prepare(struct run *run, const struct graft_session *session, enum graft_logits_rows *which,
                   struct graft_error *error) {
    size_t renewal = (size_t)graft_session_renewal(session);
    size_t tokens = 0;
    *which = GRAFT_LOGITS_LAST;
    for (size_t i = 0; i < run->active; i++) {
        const struct sequence *sequence = &run->sequences[run->slots[i]];
        tokens += sequence->count - sequence->fed;
    }
    size_t room = tokens < GRAFT_FEW_TOKENS ? (GRAFT_FEW_TOKENS - tokens) / run->active : 0;
    size_t most = smaller((size_t)run->settings->generation.speculate, room);
    for (size_t i = 0; i < run->active; i++) {
        struct sequence *sequence = &run->sequences[run->slots[i]];
        const struct graft_ids_view *prompt = &run->prompts[run->slots[i]];
        int status = reserve(sequence, most, error);
        if (status != GRAFT_OK) {
            return status;
        }
        sequence->n_guesses = graft_draft_guess(&sequence->draft, sequence->ids, sequence->count,
                                                most_guesses(run, sequence, renewal, most));
        *which = sequence->n_guesses > 0 ? GRAFT_LOGITS_ALL : *which;
        run->news[i] = (struct graft_ids_view){.ids = sequence->ids + sequence->fed,
                                               .count = sequence->count - sequence->fed + sequence->n_guesses,
                                               .images = sequence->fed == 0 ? prompt->images : NULL,
                                               .n_images = sequence->fed == 0 ? prompt->n_images : 0};
    }
    return GRAFT_OK;
}

/* Picks the next tokens of a sequence from rows of logits: one, and one more behind each guess that was right. Tells
 * the sink. */
static int pick(struct run *run, size_t number, const float *logits, int64_t vocab_size, const struct sink *sink,
                int *last, struct graft_error *error) {
    struct sequence *sequence = &run->sequences[number];
    size_t right = 0;
    int is_right = 1;
    *last = 0;
    for (size_t row = 0; is_right && !*last; row++) {
        int32_t id = graft_sampler_pick(run->sampler, &run->settings->generation, logits + (int64_t)row * vocab_size,
                                        sequence->ids, sequence->count, &sequence->state);
        int status = reserve(sequence, 1, error);
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

/* Picks for all active sequences. Of guesses that were wrong the session is made to forget. Sequences that ended are
 * dropped. */
static int advance(struct run *run, struct graft_session *session, const float *logits, enum graft_logits_rows which,
                   int64_t vocab_size, const struct sink *sink, struct graft_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < run->active; i++) {
        int32_t slot = run->slots[i];
        struct sequence *sequence = &run->sequences[slot];
        size_t fed = run->news[i].count;
        size_t guesses = sequence->n_guesses;
        int64_t reached = 0;
        int last = 0;
        logits += which == GRAFT_LOGITS_ALL ? (int64_t)(fed - guesses - 1) * vocab_size : 0;
        int status = pick(run, (size_t)slot, logits, vocab_size, sink, &last, error);
        logits += (int64_t)(guesses + 1) * vocab_size;
        sequence->fed += fed;
        if (status == GRAFT_OK && !last && sequence->fed >= sequence->count) {
            status = graft_session_rewind(session, slot, (int64_t)sequence->count - 1, &reached, error);
            sequence->fed = (size_t)reached;
        }
        if (status != GRAFT_OK) {
            return status;
        }
        if (!last) {
            run->slots[kept++] = slot;
        }
    }
    run->active = kept;
    return GRAFT_OK;
}

int graft_generate(struct graft_session *session, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error) {
    const struct sink to = {sink, data};
    struct run run;
    int status = run_init(&run, vocab_size, prompts, n, settings, error);
    while (run.active > 0 && status == GRAFT_OK) {
        enum graft_logits_rows which;
        const float *logits = NULL;
        status = renew(&run, session, error);
        if (status == GRAFT_OK) {
            status = prepare(&run, session, &which, error);
        }
        if (status == GRAFT_OK) {
            status = graft_session_step(session, run.slots, run.news, run.active, which, &logits, error);
        }
        if (status == GRAFT_OK) {
            status = advance(&run, session, logits, which, vocab_size, &to, error);
        }
    }
    run_finish(&run);
    return status;
}
