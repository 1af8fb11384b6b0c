/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the most probable tokens for each [MASK] with their probabilities, for masked models. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/encode.h"
#include "cli/output.h"
#include "cli/report/recordings.h"
#include "cli/texts.h"

enum { DEFAULT_PREDICTIONS = 5 };

int32_t graft_fill_mask_token(const char *directory, const struct graft_tokenizer *tokenizer,
                              struct graft_error *error) {
    int32_t id = graft_tokenizer_named_id(tokenizer, "mask_token");
    if (id < 0) {
        id = graft_tokenizer_id(tokenizer, "[MASK]");
    }
    if (id < 0) {
        (void)graft_error_set(
            error, GRAFT_ERROR_MODEL, directory,
            "the tokenizer has no mask token: no file has a mask_token, and \"[MASK]\" is not a token");
    }
    return id;
}

struct prediction {
    int32_t id;
    double probability;
};

/* Finds the `k` largest logits, largest first; of equal ones, the first comes first. */
static void pick(const float *logits, int64_t vocab_size, struct prediction *best, int64_t k) {
    double largest = -INFINITY, sum = 0.0;
    int64_t n = 0;
    for (int64_t i = 0; i < vocab_size; i++) {
        double logit = (double)logits[i];
        int64_t at = n;
        largest = fmax(largest, logit);
        while (at > 0 && best[at - 1].probability < logit) {
            if (at < k) {
                best[at] = best[at - 1];
            }
            at--;
        }
        if (at < k) {
            best[at] = (struct prediction){(int32_t)i, logit};
            n += n < k;
        }
    }
    for (int64_t i = 0; i < vocab_size; i++) {
        sum += exp((double)logits[i] - largest);
    }
    for (int64_t i = 0; i < n; i++) {
        best[i].probability = exp(best[i].probability - largest) / sum;
    }
}

/* A token's spelling; empty if the model has more rows than the vocabulary has tokens. */
static const char *spelling(const struct graft_encode_run *run, int32_t id) {
    const char *token = graft_tokenizer_token(run->tokenizer, id, NULL);
    return token != NULL ? token : "";
}

static int print_text(const struct graft_encode_run *run, const struct prediction *best, int64_t k,
                      struct graft_error *error) {
    for (int64_t i = 0; i < k; i++) {
        char *token = graft_strdup(spelling(run, best[i].id));
        if (token == NULL) {
            return graft_fail_memory(error, "predictions");
        }
        graft_error_clean(token);
        if (run->options->output_ids) {
            (void)printf("%.6g\t%ld\n", best[i].probability, (long)best[i].id);
        } else {
            (void)printf("%.6g\t%s\n", best[i].probability, token);
        }
        graft_free(token);
    }
    return GRAFT_OK;
}

static graft_json *predictions_json(struct graft_writer *writer, const struct graft_encode_run *run,
                                    const struct prediction *best, int64_t k) {
    graft_json *array = graft_json_new_array();
    for (int64_t i = 0; i < k; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_real(writer, object, "score", best[i].probability);
        graft_writer_set_int(writer, object, "token", best[i].id);
        graft_writer_set_string(writer, object, "token_str", spelling(run, best[i].id));
        graft_writer_append(writer, array, object);
    }
    return array;
}

/* The positions of mask tokens in all texts. */
struct places {
    int32_t *rows; /* [count] */
    size_t count;
};

/* Finds the mask tokens. A text without one is an error, unless logits or recordings are written. */
static int find_places(const struct graft_encode_run *run, const struct graft_text_batch *batch, struct places *places,
                       struct graft_error *error) {
    size_t at = 0;
    places->rows = graft_alloc(batch->tokens, sizeof *places->rows);
    if (places->rows == NULL) {
        return graft_fail_memory(error, "predictions");
    }
    for (size_t i = 0; i < batch->count; i++) {
        size_t before = places->count;
        for (size_t j = 0; j < batch->prompts[i].count; j++, at++) {
            if (batch->prompts[i].ids[j] == run->mask_id) {
                places->rows[places->count++] = (int32_t)at;
            }
        }
        if (places->count == before && run->options->logits == NULL && graft_recordings_wanted(run->options) == 0) {
            return graft_error_set(error, graft_texts_code(run->options, batch->first + i), "prompt",
                                   "text %zu has no %s to fill in", batch->first + i + 1, spelling(run, run->mask_id));
        }
    }
    return GRAFT_OK;
}

/* Prints the predictions of a text, whose rows are the next `n` of `logits`. */
static int print_predictions(const struct graft_encode_run *run, const float *logits, size_t n, struct prediction *best,
                             int64_t k, struct graft_error *error) {
    int64_t vocab_size = graft_model_vocab_size(run->model);
    struct graft_writer writer = {0};
    graft_json *array = run->options->json ? graft_json_new_array() : NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        pick(logits + (int64_t)i * vocab_size, vocab_size, best, k);
        if (run->options->json) {
            graft_writer_append(&writer, array, predictions_json(&writer, run, best, k));
        } else {
            (void)fputs(i > 0 ? "\n" : "", stdout);
            status = print_text(run, best, k, error);
        }
    }
    if (run->options->json) {
        status = writer.failed ? graft_fail_memory(error, "predictions") : graft_output_json(array, stdout, 0, error);
    }
    graft_json_free(array);
    return status;
}

static int print_all(struct graft_encode_run *run, const struct graft_text_batch *batch, const struct places *places,
                     struct graft_error *error) {
    int64_t vocab_size = graft_model_vocab_size(run->model);
    int64_t k = run->options->top_k < 0 ? DEFAULT_PREDICTIONS : run->options->top_k;
    k = k == 0 || k > vocab_size ? vocab_size : k;
    struct prediction *best = graft_alloc((size_t)k, sizeof *best);
    const float *logits = run->results;
    size_t at = 0, end = 0;
    int status = best != NULL ? GRAFT_OK : graft_fail_memory(error, "predictions");
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        size_t n = 0;
        end += batch->prompts[i].count;
        for (; at + n < places->count && (size_t)places->rows[at + n] < end; n++) {
        }
        if (!run->options->json && batch->first + i > 0) {
            (void)fputc('\n', stdout);
        }
        status = print_predictions(run, logits, n, best, k, error);
        logits += (int64_t)n * vocab_size;
        at += n;
    }
    graft_free(best);
    return status;
}

int graft_print_fill_mask(struct graft_encode_run *run, const struct graft_text_batch *batch,
                          struct graft_error *error) {
    struct places places = {0};
    int status = find_places(run, batch, &places, error);
    if (status == GRAFT_OK) {
        status = graft_encode_reserve(run, places.count, (size_t)graft_model_vocab_size(run->model), error);
    }
    if (status == GRAFT_OK && places.count > 0) {
        const struct graft_encoder_outputs outputs = {
            .struct_size = sizeof outputs,
            .logits = run->results,
            .rows = places.rows,
            .n_rows = (int64_t)places.count,
        };
        status = graft_model_encode(run->model, batch->prompts, batch->count, &outputs, error);
    }
    if (status == GRAFT_OK) {
        status = print_all(run, batch, &places, error);
    }
    graft_free(places.rows);
    return status;
}
