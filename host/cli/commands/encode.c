/* SPDX-License-Identifier: Apache-2.0 */
/* `run` for encoders: runs texts in batches of limited size and prints results in the order of the texts. */
#include "cli/commands/encode.h"
#include "cli/open_tokenizer.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/output.h"
#include "cli/report/recordings.h"
#include "cli/screen.h"

/* A batch ends with the text that reaches this many tokens, which bounds memory. */
enum { BATCH_TOKENS = 4096 };

int graft_encode_reserve(struct graft_encode_run *run, size_t rows, size_t columns, struct graft_error *error) {
    if (rows > 0 && columns > SIZE_MAX / sizeof(float) / rows) {
        return graft_fail_memory(error, "results");
    }
    if (rows * columns > run->results_capacity) {
        float *results = graft_realloc(run->results, rows * columns, sizeof *results);
        if (results == NULL) {
            return graft_fail_memory(error, "results");
        }
        run->results = results;
        run->results_capacity = rows * columns;
    }
    return GRAFT_OK;
}

static void batch_empty(struct graft_text_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        graft_text_ids_free(&batch->texts[i]);
    }
    batch->first += batch->count;
    batch->count = 0;
    batch->tokens = 0;
}

static void batch_finish(struct graft_text_batch *batch) {
    batch_empty(batch);
    graft_free(batch->texts);
    graft_free(batch->prompts);
}

/* Adds texts until there are `limit` tokens, or none are left. */
static int batch_fill(struct graft_text_batch *batch, struct graft_texts *texts, size_t limit, int *more,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    *more = 1;
    while (*more && batch->tokens < limit && status == GRAFT_OK) {
        if (graft_grow(&batch->texts, &batch->capacity, batch->count, sizeof *batch->texts) != 0) {
            return graft_fail_memory(error, "texts");
        }
        struct graft_text_ids *text = &batch->texts[batch->count];
        *text = (struct graft_text_ids){0};
        status = graft_texts_next(texts, text, more, error);
        batch->count += 1; /* also after an error, so that the text is freed with the batch */
        batch->tokens += text->ids.n;
    }
    if (!*more) {
        batch->count--;
    }
    struct graft_encoder_prompt *prompts = graft_realloc(batch->prompts, batch->capacity, sizeof *prompts);
    if (prompts == NULL) {
        return graft_fail_memory(error, "texts");
    }
    batch->prompts = prompts;
    for (size_t i = 0; i < batch->count; i++) {
        const struct graft_text_ids *text = &batch->texts[i];
        prompts[i] = (struct graft_encoder_prompt){.struct_size = sizeof *prompts,
                                                   .ids = text->ids.ids,
                                                   .token_type_ids = text->types.ids,
                                                   .count = text->ids.n};
    }
    return status;
}

static int print(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    int32_t task = graft_model_task(run->model);
    int status = GRAFT_OK;
    if (run->options->embed) {
        status = graft_print_vectors(run, batch, error);
    } else if (task == GRAFT_TASK_SEQUENCE_CLASSIFICATION) {
        status = graft_print_labels(run, batch, error);
    } else if (task == GRAFT_TASK_TOKEN_CLASSIFICATION) {
        status = graft_print_tokens(run, batch, error);
    } else if (task == GRAFT_TASK_QUESTION_ANSWERING) {
        status = graft_print_answers(run, batch, error);
    } else if (run->mask_id >= 0) {
        status = graft_print_fill_mask(run, batch, error);
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}

/* Whether the options ask for output in files. */
static int writes_files(const struct graft_options *options) {
    return options->logits != NULL || graft_recordings_wanted(options) != 0;
}

static int record(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error) {
    struct graft_recording *recording = NULL;
    int status = graft_model_record_encoder(run->model, batch->prompts, batch->count,
                                            graft_recordings_wanted(run->options), &recording, error);
    if (status == GRAFT_OK) {
        status = graft_recordings_write(run->options, recording, error);
    }
    graft_recording_free(recording);
    return status;
}

/* Runs all texts of the command line as one batch and writes --logits and recordings. */
static int write_files(struct graft_encode_run *run, struct graft_texts *texts, struct graft_error *error) {
    const struct graft_options *options = run->options;
    struct graft_text_batch batch = {0};
    int more = 1;
    int status = graft_texts_reads_lines(options)
                     ? graft_error_set(error, GRAFT_ERROR_USAGE,
                                       options->logits != NULL ? "--logits" : "--hidden-states, --attentions",
                                       "cannot be used with texts from standard input")
                     : batch_fill(&batch, texts, SIZE_MAX, &more, error);
    if (status == GRAFT_OK && options->logits != NULL) {
        status = graft_encoder_logits_write(run->model, &batch, options->logits, error);
    }
    if (status == GRAFT_OK && graft_recordings_wanted(options) != 0) {
        status = record(run, &batch, error);
    }
    batch_finish(&batch);
    texts->next = 0;
    return status;
}

static int run_texts(struct graft_encode_run *run, struct graft_texts *texts, struct graft_error *error) {
    struct graft_text_batch batch = {0};
    int more = 1;
    int status = GRAFT_OK;
    if (!isatty(STDOUT_FILENO)) { /* on a terminal the results themselves show the progress */
        graft_screen_begin("encoding", 0);
    }
    while (more && status == GRAFT_OK) {
        status = batch_fill(&batch, texts, BATCH_TOKENS, &more, error);
        if (status == GRAFT_OK && batch.count > 0) {
            status = print(run, &batch, error);
        }
        batch_empty(&batch);
        graft_screen_count((int64_t)batch.first, 0, "texts");
    }
    graft_screen_end();
    batch_finish(&batch);
    return status;
}

/* Whether the printed results name tokens. */
static int prints_tokens(const struct graft_encode_run *run, int needs) {
    const struct graft_options *options = run->options;
    switch (options->embed ? GRAFT_TASK_FEATURES : graft_model_task(run->model)) {
    case GRAFT_TASK_MASKED_LM:
        return needs || !writes_files(options);
    case GRAFT_TASK_TOKEN_CLASSIFICATION:
    case GRAFT_TASK_QUESTION_ANSWERING:
        return !options->output_ids;
    default:
        return 0;
    }
}

/* Opens the tokenizer if texts are read or tokens printed, and finds its mask and cls tokens if results need them. */
static int prepare(struct graft_encode_run *run, struct graft_error *error) {
    const struct graft_options *options = run->options;
    int needs = graft_texts_need_tokenizer(options);
    int prints = prints_tokens(run, needs);
    int32_t task = graft_model_task(run->model);
    int status = needs || prints ? graft_open_tokenizer(options, &run->tokenizer, error) : GRAFT_OK;
    run->mask_id = -1;
    run->cls_id = -1;
    if (status == GRAFT_OK && prints && task == GRAFT_TASK_MASKED_LM) {
        run->mask_id = graft_fill_mask_token(options->model, run->tokenizer, error);
        status = run->mask_id >= 0 ? GRAFT_OK : GRAFT_ERROR_MODEL;
    }
    if (status == GRAFT_OK && run->tokenizer != NULL && task == GRAFT_TASK_QUESTION_ANSWERING) {
        run->cls_id = graft_tokenizer_named_id(run->tokenizer, "cls_token");
    }
    return status;
}

static int run_all(struct graft_encode_run *run, struct graft_error *error) {
    struct graft_embedding_info embedding = {.struct_size = sizeof embedding};
    struct graft_texts texts;
    int status = prepare(run, error);
    if (status == GRAFT_OK && run->options->embed) {
        status = graft_model_embedding(run->model, &embedding, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_texts_begin(&texts, run->options, run->model, run->tokenizer, error);
    texts.cut_to = embedding.max_tokens;
    texts.finds_second = graft_model_task(run->model) == GRAFT_TASK_QUESTION_ANSWERING;
    if (status == GRAFT_OK && writes_files(run->options)) {
        status = write_files(run, &texts, error);
    }
    if (status == GRAFT_OK) {
        status = run_texts(run, &texts, error);
    }
    if (status == GRAFT_OK && texts.n_cut > 0 && !run->options->quiet) {
        (void)fprintf(stderr,
                      "%zu texts were longer than %lld tokens and were truncated, as sentence-transformers does\n",
                      texts.n_cut, (long long)texts.cut_to);
    }
    graft_texts_end(&texts);
    return status;
}

int graft_encode_command(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_encode_run run = {.options = options, .model = model};
    size_t given = options->prompts.count + options->prompt_files.count + options->input_ids.count;
    if (given == 0 && !graft_texts_reads_lines(options)) {
        return GRAFT_OK; /* loading and reporting was all that was asked for */
    }
    if (graft_model_task(model) == GRAFT_TASK_FEATURES && !options->embed && !writes_files(options)) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, options->model, "%s has no head, so there is nothing to print",
                              graft_model_class_at(model, ""));
        graft_error_hint(error, "--embed prints a vector for each text");
        return GRAFT_ERROR_USAGE;
    }
    int status = run_all(&run, error);
    graft_tokenizer_free(run.tokenizer);
    graft_free(run.results);
    return status;
}
