/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the perplexity of a loaded model on a text's ids, a few windows at a time. */
#include "graft/host/generate.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "generate/likelihood.h"
#include "library/library.h"

/* Small windows run together, as one ragged batch of at most this many tokens. */
enum { STEP_TOKENS = 512 };

struct measurement {
    struct graft_model *model;
    struct graft_session *session;
    const int32_t *ids; /* [n] */
    size_t n;
    size_t window;
    size_t at_once;              /* windows per step */
    struct graft_ids_view *news; /* [at_once] */
    int32_t *slots;              /* [at_once]: 0, 1, ... */
    int32_t *targets;            /* [at_once * window]: the next token; -1 at the end of a window */
    double *loss;                /* [at_once * window] */
    double sum;
    int64_t predicted;
    int64_t windows;
};

static int measurement_init(struct measurement *m, struct graft_error *error) {
    m->window = m->window < m->n ? m->window : m->n;
    m->at_once = m->window < STEP_TOKENS ? STEP_TOKENS / m->window : 1;
    m->news = graft_alloc(m->at_once, sizeof *m->news);
    m->slots = graft_alloc(m->at_once, sizeof *m->slots);
    m->targets = graft_alloc(m->at_once * m->window, sizeof *m->targets);
    m->loss = graft_alloc(m->at_once * m->window, sizeof *m->loss);
    if (m->news == NULL || m->slots == NULL || m->targets == NULL || m->loss == NULL) {
        return graft_fail_memory(error, "perplexity");
    }
    for (size_t i = 0; i < m->at_once; i++) {
        m->slots[i] = (int32_t)i;
    }
    return graft_model_session(m->model, (int32_t)m->at_once, &m->session, error);
}

static void measurement_finish(struct measurement *m) {
    graft_session_free(m->session);
    graft_free(m->news);
    graft_free(m->slots);
    graft_free(m->targets);
    graft_free(m->loss);
}

/* Fills in the windows of one step, from token `begin` on. Returns the number of their tokens. */
static size_t cut(struct measurement *m, size_t begin, size_t *windows) {
    size_t tokens = 0;
    *windows = 0;
    while (*windows < m->at_once && begin + tokens < m->n) {
        size_t left = m->n - begin - tokens;
        size_t count = left < m->window ? left : m->window;
        const int32_t *ids = m->ids + begin + tokens;
        m->news[(*windows)++] = (struct graft_ids_view){.ids = ids, .count = count};
        for (size_t i = 0; i < count; i++) {
            m->targets[tokens++] = i + 1 < count ? ids[i + 1] : -1;
        }
    }
    return tokens;
}

/* Adds up the losses in the order of the text, so that the sum does not depend on threads. */
static void add_up(struct measurement *m, size_t windows) {
    size_t at = 0;
    for (size_t i = 0; i < windows; i++) {
        size_t count = m->news[i].count;
        for (size_t j = 0; j < count; j++) {
            m->sum += m->loss[at++];
        }
        m->predicted += (int64_t)count - 1;
        m->windows += count > 1;
    }
}

/* Runs a step. Each window is a sequence of its own, which does not see the window that was in its slot before. */
static int step(struct measurement *m, size_t windows, size_t tokens, struct graft_error *error) {
    const float *logits = NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < windows && status == GRAFT_OK; i++) {
        int64_t reached;
        status = graft_session_rewind(m->session, m->slots[i], 0, &reached, error);
    }
    if (status == GRAFT_OK) {
        status = graft_session_step(m->session, m->slots, m->news, windows, GRAFT_LOGITS_ALL, &logits, error);
    }
    if (status == GRAFT_OK && logits != NULL) {
        graft_cross_entropy(logits, (int64_t)tokens, m->model->vocab_size, m->targets, m->loss);
        add_up(m, windows);
    }
    return status;
}

/* Checks ids before anything runs: as targets, ids outside of the vocabulary would be read out of bounds. */
static int check_ids(const struct measurement *m, struct graft_error *error) {
    for (size_t i = 0; i < m->n; i++) {
        if (m->ids[i] < 0 || m->ids[i] >= m->model->vocab_size) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "text",
                                   "token id %ld is outside the model's vocabulary of %lld", (long)m->ids[i],
                                   (long long)m->model->vocab_size);
        }
    }
    return GRAFT_OK;
}

static int measure(struct measurement *m, const struct graft_perplexity_options *options, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t at = 0; at < m->n && status == GRAFT_OK;) {
        size_t windows = 0;
        size_t tokens = cut(m, at, &windows);
        status = step(m, windows, tokens, error);
        at += tokens;
        if (status == GRAFT_OK && options != NULL && options->on_progress != NULL) {
            status = options->on_progress(options->data, (int64_t)at, (int64_t)m->n, error);
        }
    }
    return status;
}

static int64_t choose_window(const struct graft_model *model, const struct graft_perplexity_options *options) {
    int64_t positions = graft_model_max_positions(model);
    if (options != NULL && options->window != 0) {
        return options->window;
    }
    return positions > 0 && positions < GRAFT_PERPLEXITY_WINDOW ? positions : GRAFT_PERPLEXITY_WINDOW;
}

static int predict(struct graft_model *model, const int32_t *ids, size_t n,
                   const struct graft_perplexity_options *options, struct graft_perplexity *result,
                   struct graft_error *error) {
    int64_t window = choose_window(model, options);
    struct measurement m = {.model = model, .ids = ids, .n = n, .window = (size_t)window};
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK && graft_model_has_encoder(model)) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                                 "a decoder that follows an encoder has no perplexity of a text alone");
    }
    if (status == GRAFT_OK) {
        status =
            graft_check_given(options, GRAFT_PERPLEXITY_OPTIONS_SIZE_1_0, "struct graft_perplexity_options", error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_given(result, GRAFT_PERPLEXITY_SIZE_1_0, "struct graft_perplexity", error);
    }
    if (status == GRAFT_OK && window < 2) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "window",
                                 "expected 2 tokens or more: the first is not predicted");
    }
    if (status == GRAFT_OK && n < 2) {
        status =
            graft_error_set(error, GRAFT_ERROR_USAGE, "text", "expected at least 2 tokens to predict one, got %zu", n);
    }
    if (status == GRAFT_OK) {
        status = check_ids(&m, error);
    }
    if (status == GRAFT_OK) {
        status = measurement_init(&m, error);
    }
    if (status == GRAFT_OK) {
        status = measure(&m, options, error);
    }
    if (status == GRAFT_OK) {
        double mean = m.sum / (double)m.predicted;
        const struct graft_perplexity all = {sizeof all, 0, window, m.windows, m.predicted, mean, exp(mean)};
        graft_struct_copy(result, result->struct_size, &all);
    }
    measurement_finish(&m);
    return status;
}

int graft_model_perplexity(struct graft_model *model, const int32_t *ids, size_t n,
                           const struct graft_perplexity_options *options, struct graft_perplexity *result,
                           struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = predict(model, ids, n, options, result, error);
    (void)graft_context_enter(before);
    return status;
}
