/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the best spans of the text as answers to the question, for models that answer questions. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/encode.h"
#include "cli/output.h"
#include "cli/report/labels.h"

/* LONGEST: the maximum number of tokens of an answer, as in the pipeline of transformers 4. */
enum { ENDS = 2, LONGEST = 15 };

struct span {
    double score;
    size_t first; /* first and last token, as positions in the prompt */
    size_t last;
};

/* The tokens of a prompt that may be part of an answer. */
struct text {
    size_t first;
    size_t count;
};

/* Finds the text in a prompt: the second text of the pair if its place is known, else the tokens of type 1, or all
 * tokens if there are none. */
static struct text find_text(const struct graft_text_ids *text) {
    struct text found = {text->second, text->n_second};
    for (size_t i = 0; text->n_second == 0 && i < text->types.n; i++) {
        found.first = found.count == 0 ? i : found.first;
        found.count = text->types.ids[i] == 1 ? i - found.first + 1 : found.count;
    }
    return found.count > 0 ? found : (struct text){0, text->ids.n};
}

/* probabilities [text->count] of column `end` of logits [tokens, ENDS], among the text's tokens and `cls`, the one
 * whose logit says that there is no answer (-1: there is none). */
static void find_probabilities(const float *logits, const struct text *text, int64_t cls, size_t end,
                               double *probabilities) {
    const float *of_text = logits + text->first * ENDS + end;
    double largest = cls >= 0 ? (double)logits[cls * ENDS + (int64_t)end] : -INFINITY;
    for (size_t i = 0; i < text->count; i++) {
        largest = fmax(largest, (double)of_text[i * ENDS]);
    }
    double sum = cls >= 0 ? exp((double)logits[cls * ENDS + (int64_t)end] - largest) : 0.0;
    for (size_t i = 0; i < text->count; i++) {
        probabilities[i] = exp((double)of_text[i * ENDS] - largest);
        sum += probabilities[i];
    }
    for (size_t i = 0; i < text->count; i++) {
        probabilities[i] /= sum;
    }
}

/* Fills spans [k] with the best ones, best first, and returns their number. starts and ends: [text->count]. */
static size_t pick(const struct text *text, const double *starts, const double *ends, struct span *spans, size_t k) {
    size_t n = 0;
    for (size_t i = 0; i < text->count; i++) {
        for (size_t j = i; j < text->count && j < i + LONGEST; j++) {
            const struct span span = {starts[i] * ends[j], text->first + i, text->first + j};
            size_t at = n;
            for (; at > 0 && spans[at - 1].score < span.score; at--) {
                if (at < k) {
                    spans[at] = spans[at - 1];
                }
            }
            if (at < k) {
                spans[at] = span;
                n += n < k;
            }
        }
    }
    return n;
}

/* The position of the [CLS] token outside the text; -1 if there is none. */
static int64_t find_cls(const struct graft_encode_run *run, const struct graft_encoder_prompt *prompt,
                        const struct text *text) {
    for (size_t i = 0; run->cls_id >= 0 && i < prompt->count; i++) {
        if (prompt->ids[i] == run->cls_id && (i < text->first || i >= text->first + text->count)) {
            return (int64_t)i;
        }
    }
    return -1;
}

/* Decodes a span in its context: decodes the text up to the span's end and removes the part before the span, as a span
 * decoded alone may begin with the mark of a continued word. If the decoded text does not begin with that part, decodes
 * the span alone. `words` starts as {0}. */
static int spell_words(const struct graft_encode_run *run, const int32_t *ids, const struct text *text,
                       const struct span *span, struct graft_text *words, struct graft_error *error) {
    struct graft_text before = {0};
    size_t n_before = span->first - text->first;
    int status = GRAFT_OK;
    if (n_before > 0) {
        status = graft_tokenizer_decode(run->tokenizer, ids + text->first, n_before, 1, &before, error);
    }
    if (status == GRAFT_OK) {
        size_t n = span->last - text->first + 1;
        status = graft_tokenizer_decode(run->tokenizer, ids + text->first, n, 1, words, error);
    }
    if (status == GRAFT_OK && !words->failed && !before.failed && before.length > 0) {
        int begins = before.length <= words->length && memcmp(before.bytes, words->bytes, before.length) == 0;
        size_t rest = begins ? words->length - before.length : 0;
        if (begins) {
            memmove(words->bytes, words->bytes + before.length, rest);
        }
        words->length = rest;
        if (!begins) {
            size_t n = span->last - span->first + 1;
            status = graft_tokenizer_decode(run->tokenizer, ids + span->first, n, 1, words, error);
        }
    }
    words->failed |= before.failed;
    graft_text_free(&before);
    return status;
}

/* Decodes a span, or lists its ids with --output-ids. `words` starts as {0}. */
static int spell(const struct graft_encode_run *run, const int32_t *ids, const struct text *text,
                 const struct span *span, struct graft_text *words, struct graft_error *error) {
    int status = GRAFT_OK;
    if (run->options->output_ids) {
        for (size_t i = span->first; i <= span->last; i++) {
            graft_text_printf(words, "%s%ld", i > span->first ? "," : "", (long)ids[i]);
        }
    } else {
        status = spell_words(run, ids, text, span, words, error);
    }
    graft_text_add(words, "", 1);
    return status == GRAFT_OK && words->failed ? graft_fail_memory(error, "answers") : status;
}

static int print_spans(const struct graft_encode_run *run, const int32_t *ids, const struct text *text,
                       const struct span *spans, size_t n, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *array = run->options->json ? graft_json_new_array() : NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_text words = {0};
        status = spell(run, ids, text, &spans[i], &words, error);
        const char *answer = status == GRAFT_OK ? words.bytes + strspn(words.bytes, " ") : "";
        if (status == GRAFT_OK && run->options->json) {
            graft_json *object = graft_json_new_object();
            graft_writer_set_string(&writer, object, "answer", answer);
            graft_writer_set_real(&writer, object, "score", spans[i].score);
            graft_writer_set_int(&writer, object, "start_index", (int64_t)spans[i].first);
            graft_writer_set_int(&writer, object, "end_index", (int64_t)spans[i].last);
            graft_writer_append(&writer, array, object);
        } else if (status == GRAFT_OK) {
            (void)printf("%.6g\t", spans[i].score);
            status = graft_print_clean(answer, "\n", error);
        }
        graft_text_free(&words);
    }
    if (run->options->json && status == GRAFT_OK) {
        status = writer.failed ? graft_fail_memory(error, "answers") : graft_output_json(array, stdout, 0, error);
    }
    graft_json_free(array);
    return status;
}

static int print_one(const struct graft_encode_run *run, const struct graft_text_ids *ids,
                     const struct graft_encoder_prompt *prompt, const float *logits, struct graft_error *error) {
    struct text text = find_text(ids);
    size_t most = text.count * LONGEST;
    size_t k = run->options->top_k < 0 ? 1 : (size_t)run->options->top_k;
    k = k == 0 || k > most ? most : k;
    struct span *spans = graft_alloc(k, sizeof *spans);
    double *probabilities = graft_alloc(2 * text.count, sizeof *probabilities);
    int status = spans != NULL && probabilities != NULL ? GRAFT_OK : graft_fail_memory(error, "answers");
    if (status == GRAFT_OK) {
        int64_t cls = find_cls(run, prompt, &text);
        find_probabilities(logits, &text, cls, 0, probabilities);
        find_probabilities(logits, &text, cls, 1, probabilities + text.count);
        size_t n = pick(&text, probabilities, probabilities + text.count, spans, k);
        status = print_spans(run, prompt->ids, &text, spans, n, error);
    }
    graft_free(probabilities);
    graft_free(spans);
    return status;
}

/* Checks that every text is a pair of a question and a text; ids may have both in one prompt. */
static int check_pairs(const struct graft_encode_run *run, const struct graft_text_batch *batch,
                       struct graft_error *error) {
    size_t texts = run->options->prompts.count + run->options->prompt_files.count;
    for (size_t i = 0; i < batch->count; i++) {
        size_t number = batch->first + i;
        int has_ids = number >= texts && number < texts + run->options->input_ids.count;
        if (!has_ids && batch->texts[i].n_second == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "--text-pair, --pairs",
                                   "text %zu: expected a question and a text that has the answer", number + 1);
        }
    }
    return GRAFT_OK;
}

int graft_print_answers(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    int status = check_pairs(run, batch, error);
    if (status == GRAFT_OK) {
        status = graft_encode_reserve(run, batch->tokens, ENDS, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .logits = run->results};
        status = graft_model_encode(run->model, batch->prompts, batch->count, &outputs, error);
    }
    const float *logits = run->results;
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        if (!run->options->json && batch->first + i > 0) {
            (void)fputc('\n', stdout);
        }
        status = print_one(run, &batch->texts[i], &batch->prompts[i], logits, error);
        logits += batch->prompts[i].count * ENDS;
    }
    return status;
}
