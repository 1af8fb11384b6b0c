/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the labels of a classifier with their scores, highest first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/encode.h"
#include "cli/output.h"
#include "cli/report/labels.h"

static int best_first(const void *a, const void *b) {
    const struct graft_scored *left = a, *right = b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    return left->number < right->number ? -1 : left->number > right->number;
}

void graft_labels_score(const struct graft_encoder_info *info, const float *logits, struct graft_scored *labels) {
    double largest = -INFINITY;
    double sum = 0.0;
    for (int64_t i = 0; i < info->n_labels; i++) {
        largest = fmax(largest, (double)logits[i]);
    }
    for (int64_t i = 0; i < info->n_labels; i++) {
        double logit = (double)logits[i];
        labels[i] = (struct graft_scored){logit, info->labels[i], i};
        if (info->problem == GRAFT_PROBLEM_MULTI_LABEL) {
            labels[i].score = 1.0 / (1.0 + exp(-logit));
        } else if (info->problem == GRAFT_PROBLEM_SINGLE_LABEL) {
            labels[i].score = exp(logit - largest);
        }
        sum += labels[i].score;
    }
    for (int64_t i = 0; i < info->n_labels && info->problem == GRAFT_PROBLEM_SINGLE_LABEL; i++) {
        labels[i].score /= sum;
    }
    qsort(labels, (size_t)info->n_labels, sizeof *labels, best_first);
}

int graft_print_clean(const char *text, const char *end, struct graft_error *error) {
    char *clean = graft_strdup(text);
    if (clean == NULL) {
        return graft_fail_memory(error, "output");
    }
    graft_error_clean(clean);
    (void)printf("%s%s", clean, end);
    graft_free(clean);
    return GRAFT_OK;
}

static int print_json(const struct graft_scored *labels, int64_t n, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *array = graft_json_new_array();
    for (int64_t i = 0; i < n; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(&writer, object, "label", labels[i].label);
        graft_writer_set_real(&writer, object, "score", labels[i].score);
        graft_writer_append(&writer, array, object);
    }
    int status = writer.failed ? graft_fail_memory(error, "labels") : graft_output_json(array, stdout, 0, error);
    graft_json_free(array);
    return status;
}

static int print_text(const struct graft_scored *labels, int64_t n, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        (void)printf("%.6g\t", labels[i].score);
        status = graft_print_clean(labels[i].label, "\n", error);
    }
    return status;
}

int graft_print_labels(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    graft_model_encoder_info(run->model, &info);
    size_t n = (size_t)info.n_labels;
    struct graft_scored *labels = graft_alloc(n, sizeof *labels);
    int status =
        labels != NULL ? graft_encode_reserve(run, batch->count, n, error) : graft_fail_memory(error, "labels");
    if (status == GRAFT_OK) {
        const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .logits = run->results};
        status = graft_model_encode(run->model, batch->prompts, batch->count, &outputs, error);
    }
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        graft_labels_score(&info, run->results + i * n, labels);
        if (!run->options->json && batch->first + i > 0) {
            (void)fputc('\n', stdout);
        }
        status =
            run->options->json ? print_json(labels, info.n_labels, error) : print_text(labels, info.n_labels, error);
    }
    graft_free(labels);
    return status;
}
