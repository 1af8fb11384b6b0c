/* SPDX-License-Identifier: Apache-2.0 */
/* Prints each token of a text with its best labels, for classifiers of tokens. */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "cli/commands/encode.h"
#include "cli/output.h"
#include "cli/report/labels.h"

/* The state of printing a text. */
struct printing {
    const struct graft_encode_run *run;
    const struct graft_encoder_info *info;
    struct graft_scored *labels; /* [n_labels], scores of the current token */
    int64_t k;                   /* number of labels printed */
};

/* Whether a token is printed: special tokens are not, but without a tokenizer all tokens are. */
static int is_printed(const struct printing *printing, int32_t id) {
    const struct graft_tokenizer *tokenizer = printing->run->tokenizer;
    return tokenizer == NULL || !graft_tokenizer_is_special(tokenizer, id);
}

/* A token's spelling; empty if the model has more rows than the vocabulary has tokens. */
static const char *spelling(const struct printing *printing, int32_t id) {
    const char *token = graft_tokenizer_token(printing->run->tokenizer, id, NULL);
    return token != NULL ? token : "";
}

static int print_text(const struct printing *printing, int32_t id, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < printing->k && status == GRAFT_OK; i++) {
        (void)printf("%.6g\t", printing->labels[i].score);
        status = graft_print_clean(printing->labels[i].label, "\t", error);
        if (status == GRAFT_OK && printing->run->options->output_ids) {
            (void)printf("%ld\n", (long)id);
        } else if (status == GRAFT_OK) {
            status = graft_print_clean(spelling(printing, id), "\n", error);
        }
    }
    return status;
}

static void add_json(const struct printing *printing, int32_t id, size_t index, graft_json *array,
                     struct graft_writer *writer) {
    for (int64_t i = 0; i < printing->k; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "entity", printing->labels[i].label);
        graft_writer_set_real(writer, object, "score", printing->labels[i].score);
        graft_writer_set_int(writer, object, "index", (int64_t)index);
        if (printing->run->options->output_ids) {
            graft_writer_set_int(writer, object, "token", id);
        } else {
            graft_writer_set_string(writer, object, "word", spelling(printing, id));
        }
        graft_writer_append(writer, array, object);
    }
}

static int print_one(const struct printing *printing, const struct graft_encoder_prompt *prompt, const float *logits,
                     struct graft_error *error) {
    int json = printing->run->options->json;
    struct graft_writer writer = {0};
    graft_json *array = json ? graft_json_new_array() : NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < prompt->count && status == GRAFT_OK; i++) {
        if (!is_printed(printing, prompt->ids[i])) {
            continue;
        }
        graft_labels_score(printing->info, logits + (int64_t)i * printing->info->n_labels, printing->labels);
        if (json) {
            add_json(printing, prompt->ids[i], i, array, &writer);
        } else {
            status = print_text(printing, prompt->ids[i], error);
        }
    }
    if (json && status == GRAFT_OK) {
        status = writer.failed ? graft_fail_memory(error, "labels") : graft_output_json(array, stdout, 0, error);
    }
    graft_json_free(array);
    return status;
}

int graft_print_tokens(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    graft_model_encoder_info(run->model, &info);
    int64_t k = run->options->top_k < 0 ? 1 : run->options->top_k;
    struct printing printing = {run, &info, graft_alloc((size_t)info.n_labels, sizeof *printing.labels),
                                k == 0 || k > info.n_labels ? info.n_labels : k};
    int status = printing.labels != NULL ? graft_encode_reserve(run, batch->tokens, (size_t)info.n_labels, error)
                                         : graft_fail_memory(error, "labels");
    if (status == GRAFT_OK) {
        const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .logits = run->results};
        status = graft_model_encode(run->model, batch->prompts, batch->count, &outputs, error);
    }
    const float *logits = run->results;
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        if (!run->options->json && batch->first + i > 0) {
            (void)fputc('\n', stdout);
        }
        status = print_one(&printing, &batch->prompts[i], logits, error);
        logits += (int64_t)batch->prompts[i].count * info.n_labels;
    }
    graft_free(printing.labels);
    return status;
}
