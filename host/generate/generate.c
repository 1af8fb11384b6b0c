/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/generate.h"

#include <string.h>

#include "base/alloc.h"
#include "generate/sampler.h"

/* One sequence: all of its tokens so far. */
struct sequence {
    int32_t *ids; /* [count] */
    size_t count;
    size_t capacity;
    struct graft_sampler_state state;
};

/* The sequences of a run; those that go on are packed to the front of `slots` and `news`. */
struct run {
    struct sequence *sequences; /* [n] */
    size_t n;
    size_t active;
    int32_t *slots;              /* [active]: numbers of sequences */
    struct graft_ids_view *news; /* [active]: what the next step feeds to each */
    struct graft_sampler *sampler;
};

static int append(struct sequence *sequence, int32_t id) {
    if (graft_grow(&sequence->ids, &sequence->capacity, sequence->count, sizeof *sequence->ids) != 0) {
        return -1;
    }
    sequence->ids[sequence->count++] = id;
    return 0;
}

static int run_init(struct run *run, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                    const struct graft_generation *generation, struct graft_error *error) {
    *run = (struct run){.n = n, .active = n};
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
        sequence->count = sequence->capacity = prompts[i].count;
        graft_sampler_state_init(&sequence->state, generation->seed, i);
        run->slots[i] = (int32_t)i;
        run->news[i] = prompts[i];
    }
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

/* Picks the next token of every active sequence, tells the sink, and drops the sequences that ended. */
static int pick(struct run *run, const float *logits, int64_t vocab_size, int at_limit,
                const struct graft_generation_settings *settings, const struct sink *sink, struct graft_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < run->active; i++) {
        int32_t slot = run->slots[i];
        struct sequence *sequence = &run->sequences[slot];
        int32_t id = graft_sampler_pick(run->sampler, &settings->generation, logits + (int64_t)i * vocab_size,
                                        sequence->ids, sequence->count, &sequence->state);
        int last = at_limit || is_eos(settings, id);
        int status = append(sequence, id) != 0 ? graft_fail_memory(error, "generation")
                                               : sink->call(sink->data, (size_t)slot, id, last, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (!last) {
            run->slots[kept] = slot;
            run->news[kept] = (struct graft_ids_view){.ids = &sequence->ids[sequence->count - 1], .count = 1};
            kept++;
        }
    }
    run->active = kept;
    return GRAFT_OK;
}

int graft_generate(struct graft_session *session, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error) {
    const struct sink to = {sink, data};
    int64_t limit = settings->generation.max_new_tokens;
    struct run run;
    int status = run_init(&run, vocab_size, prompts, n, &settings->generation, error);
    for (int64_t made = 1; made <= limit && run.active > 0 && status == GRAFT_OK; made++) {
        const float *logits = NULL;
        status = graft_session_step(session, run.slots, run.news, run.active, GRAFT_LOGITS_LAST, &logits, error);
        if (status == GRAFT_OK) {
            status = pick(&run, logits, vocab_size, made == limit, settings, &to, error);
        }
    }
    run_finish(&run);
    return status;
}
