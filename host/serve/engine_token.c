/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a new token of a choice: decodes it, holds back text that may begin a stop string, and computes logprobs. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/model.h"
#include "serve/answer.h"
#include "serve/engine_parts.h"

/* Computes the log probabilities of the token and of the most probable ones from the model's logits. */
static struct graft_token_info *describe(const float *logits, int64_t n, int32_t id, int n_top) {
    struct graft_token_info *info = graft_alloc(1, sizeof *info);
    float largest = -INFINITY;
    double sum = 0.0;
    if (info == NULL) {
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        largest = logits[i] > largest ? logits[i] : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        const float logit = logits[i];
        sum += exp((double)logit - (double)largest);
        if (n_top == 0 || (info->n_top == n_top && !(logit > info->top[n_top - 1].logprob))) {
            continue;
        }
        int at = info->n_top < n_top ? info->n_top++ : n_top - 1;
        for (; at > 0 && logit > info->top[at - 1].logprob; at--) {
            info->top[at] = info->top[at - 1];
        }
        info->top[at].id = (int32_t)i;
        info->top[at].logprob = logit;
    }
    const double total = (double)largest + log(sum);
    info->id = id;
    info->logprob = (float)((double)logits[id] - total);
    for (int i = 0; i < info->n_top; i++) {
        info->top[i].logprob = (float)((double)info->top[i].logprob - total);
    }
    return info;
}

/* The offset of the first stop string in `text`, or `length` if there is none. `*kept` becomes the number of bytes at
 * the end that may begin a stop string. */
static size_t find_stop(const struct graft_request *request, const char *text, size_t length, size_t *kept) {
    *kept = 0;
    for (size_t at = 0; at < length; at++) {
        for (size_t i = 0; i < request->n_stops; i++) {
            const struct graft_text_view *stop = &request->stops[i];
            const size_t left = length - at;
            if (left >= stop->length && memcmp(text + at, stop->text, stop->length) == 0) {
                return at;
            }
            if (left < stop->length && memcmp(text + at, stop->text, left) == 0 && *kept < left) {
                *kept = left;
            }
        }
    }
    return length;
}

static struct graft_event *new_event(struct graft_job *job, size_t choice, enum graft_event_kind kind) {
    struct graft_event *event = graft_alloc(1, sizeof *event);
    if (event != NULL) {
        *event = (struct graft_event){.job = job, .kind = kind, .choice = choice};
    }
    return event;
}

/* Posts the first `length` bytes of the held text, with the token's logprobs. */
static int post_text(struct graft_engine *engine, struct graft_job *job, size_t choice, size_t length,
                     struct graft_token_info *info_take) {
    struct graft_text *held = &job->making[choice].held;
    struct graft_event *event = NULL;
    if (length == 0 && info_take == NULL) {
        return 0;
    }
    event = new_event(job, choice, GRAFT_EVENT_TEXT);
    if (event == NULL) {
        graft_free(info_take);
        return -1;
    }
    event->info = info_take;
    event->length = length;
    event->text = length > 0 ? graft_strndup(held->bytes, length) : NULL;
    if (length > 0 && event->text == NULL) {
        graft_event_free(event);
        return -1;
    }
    if (length > 0) {
        memmove(held->bytes, held->bytes + length, held->length - length);
        held->length -= length;
    }
    graft_engine_post(engine, event);
    return 0;
}

static int end(struct graft_engine *engine, struct graft_job *job, size_t choice, const char *reason) {
    struct graft_event *event = new_event(job, choice, GRAFT_EVENT_END);
    if (event == NULL) {
        return -1;
    }
    event->reason = reason;
    event->tokens = job->making[choice].tokens;
    graft_engine_post(engine, event);
    job->n_running--;
    return 0;
}

/* Whether the token is shown as text: special tokens are not, except the marks of tool calls. */
static int is_shown(const struct graft_engine *engine, const struct graft_request *request, int32_t id) {
    const struct graft_tokenizer *tokenizer = engine->options.tokenizer;
    if (!request->skip_special || !graft_tokenizer_is_special(tokenizer, id)) {
        return 1;
    }
    const char *token = graft_tokenizer_token(tokenizer, id, NULL);
    return request->with_tools && token != NULL && graft_calls_is_mark(token);
}

/* Decodes the token and adds the text that is complete now to the held text. */
static int decode(struct graft_engine *engine, struct graft_job *job, size_t choice, int32_t id, int is_last,
                  int is_end) {
    struct graft_making *making = &job->making[choice];
    const char *bytes = NULL;
    size_t length = 0;
    int status = GRAFT_OK;
    if (making->stream == NULL) {
        return 0;
    }
    if (!is_end && is_shown(engine, &job->request, id)) {
        status = graft_decode_stream_push(making->stream, id, &bytes, &length, &job->error);
        graft_text_add(&making->held, bytes, status == GRAFT_OK ? length : 0);
    }
    if (status == GRAFT_OK && is_last) {
        status = graft_decode_stream_end(making->stream, &bytes, &length, &job->error);
        graft_text_add(&making->held, bytes, status == GRAFT_OK ? length : 0);
    }
    return status == GRAFT_OK && !making->held.failed ? 0 : -1;
}

int graft_engine_take_token(struct graft_engine *engine, struct graft_job *job, size_t choice,
                            const struct graft_sequence_token *token) {
    struct graft_making *making = &job->making[choice];
    const int is_last = token->end != GRAFT_SEQUENCE_RUNNING;
    const int is_end = token->end == GRAFT_SEQUENCE_STOPPED;
    struct graft_token_info *info = NULL;
    size_t kept = 0;
    making->tokens++;
    making->is_running = !is_last;
    int failed = decode(engine, job, choice, token->id, is_last, is_end) != 0;
    if (!failed && token->logits != NULL && !is_end) {
        info =
            describe(token->logits, graft_model_vocab_size(engine->options.model), token->id, (int)job->request.n_top);
        failed = info == NULL;
    }
    const size_t length = making->held.length;
    const size_t stop = find_stop(&job->request, making->held.bytes, length, &kept);
    if (!failed && stop < length) {
        if (making->is_running) {
            (void)graft_sequences_remove(engine->sequences, making->number, NULL);
            making->is_running = 0;
        }
        failed = post_text(engine, job, choice, stop, info) != 0 || end(engine, job, choice, "stop") != 0;
    } else if (!failed) {
        failed = post_text(engine, job, choice, is_last ? length : length - kept, info) != 0 ||
                 (is_last && end(engine, job, choice, is_end ? "stop" : "length") != 0);
    }
    if (failed) {
        (void)graft_fail_memory(&job->error, "serve"); /* unless another error is set */
    }
    return failed ? -1 : 0;
}
