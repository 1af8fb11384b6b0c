/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/generate.h"

#include "base/alloc.h"

/* The sequences that go on, packed to the front. */
struct active {
    size_t count;
    int32_t *slots; /* [count] */
    int32_t *ids;   /* [count]: the newest token of each */
    struct graft_ids_view *news; /* [count] */
};

static int active_init(struct active *active, size_t n) {
    active->count = n;
    active->slots = graft_alloc(n, sizeof *active->slots);
    active->ids = graft_alloc(n, sizeof *active->ids);
    active->news = graft_alloc(n, sizeof *active->news);
    return active->slots == NULL || active->ids == NULL || active->news == NULL ? -1 : 0;
}

static void active_finish(struct active *active) {
    graft_free(active->slots);
    graft_free(active->ids);
    graft_free(active->news);
}

/* The first of the largest; NaN counts as smallest. */
static int32_t argmax(const float *logits, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        if (logits[i] > logits[best] || (logits[best] != logits[best] && logits[i] == logits[i])) {
            best = i;
        }
    }
    return (int32_t)best;
}

static int is_eos(const struct graft_generation_settings *settings, int32_t id) {
    for (int32_t i = 0; i < settings->n_eos; i++) {
        if (settings->eos[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* Picks the next token of every active sequence, tells the sink, and drops the sequences that ended. */
static int pick(struct active *active, const float *logits, int64_t vocab_size, int at_limit,
                const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                struct graft_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < active->count; i++) {
        int32_t id = argmax(logits + (int64_t)i * vocab_size, vocab_size);
        int last = at_limit || is_eos(settings, id);
        int status = sink(data, (size_t)active->slots[i], id, last, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (!last) {
            active->slots[kept] = active->slots[i];
            active->ids[kept] = id;
            active->news[kept] = (struct graft_ids_view){&active->ids[kept], 1};
            kept++;
        }
    }
    active->count = kept;
    return GRAFT_OK;
}

int graft_generate(struct graft_session *session, int64_t vocab_size, const struct graft_ids_view *prompts, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error) {
    struct active active = {0};
    int status = GRAFT_OK;
    if (active_init(&active, n) != 0) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "generation", "out of memory");
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        active.slots[i] = (int32_t)i;
        active.news[i] = prompts[i];
    }
    for (int64_t made = 1; made <= settings->max_new_tokens && active.count > 0 && status == GRAFT_OK; made++) {
        const float *logits = NULL;
        status = graft_session_step(session, active.slots, active.news, active.count, GRAFT_LOGITS_LAST, &logits, error);
        if (status == GRAFT_OK) {
            status = pick(&active, logits, vocab_size, made == settings->max_new_tokens, settings, sink, data, error);
        }
    }
    active_finish(&active);
    return status;
}
