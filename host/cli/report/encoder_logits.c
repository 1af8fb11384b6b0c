/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands/encode.h"

enum { NAME_BYTES = 32 };

/* The logits of all texts: `rows` rows of `columns`. */
struct logits {
    float *numbers;
    size_t rows;
    size_t columns;
};

static size_t rows_of(const struct graft_model *model, const struct graft_text_batch *batch, size_t text) {
    return graft_model_task(model) == GRAFT_TASK_SEQUENCE_CLASSIFICATION ? 1 : batch->prompts[text].count;
}

static int compute(struct graft_model *model, const struct graft_text_batch *batch, const struct logits *logits,
                   struct graft_error *error) {
    int32_t *rows = graft_alloc(logits->rows, sizeof *rows);
    if (rows == NULL) {
        return graft_fail_memory(error, "logits");
    }
    for (size_t i = 0; i < logits->rows; i++) {
        rows[i] = (int32_t)i;
    }
    const struct graft_encoder_outputs outputs = {
        .struct_size = sizeof outputs,
        .logits = logits->numbers,
        .rows = rows,
        .n_rows = (int64_t)logits->rows,
    };
    int status = graft_model_encode(model, batch->prompts, batch->count, &outputs, error);
    graft_free(rows);
    return status;
}

static int write(const struct graft_model *model, const struct graft_text_batch *batch, const struct logits *logits,
                 const char *path, struct graft_error *error) {
    char *names = graft_alloc(batch->count, NAME_BYTES);
    struct graft_recorded *tensors = graft_alloc(batch->count, sizeof *tensors);
    const float *at = logits->numbers;
    int status = names == NULL || tensors == NULL ? graft_fail_memory(error, path) : GRAFT_OK;
    for (size_t i = 0; i < batch->count && status == GRAFT_OK; i++) {
        char *name = names + i * NAME_BYTES;
        size_t rows = rows_of(model, batch, i);
        (void)snprintf(name, NAME_BYTES, batch->count == 1 ? "logits" : "logits.%zu", i);
        tensors[i] = (struct graft_recorded){
            .struct_size = sizeof tensors[i],
            .rank = 2,
            .name = name,
            .shape = {(int64_t)rows, (int64_t)logits->columns},
            .data = at,
        };
        at += rows * logits->columns;
    }
    if (status == GRAFT_OK) {
        status = graft_recorded_write(path, tensors, batch->count, error);
    }
    graft_free(tensors);
    graft_free(names);
    return status;
}

int graft_encoder_logits_write(struct graft_model *model, const struct graft_text_batch *batch, const char *path,
                               struct graft_error *error) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    graft_model_encoder_info(model, &info);
    int is_masked = graft_model_task(model) == GRAFT_TASK_MASKED_LM;
    struct logits logits = {.columns = is_masked ? (size_t)graft_model_vocab_size(model) : (size_t)info.n_labels};
    for (size_t i = 0; i < batch->count; i++) {
        logits.rows += rows_of(model, batch, i);
    }
    logits.numbers = graft_alloc(logits.rows, (logits.columns + 1) * sizeof *logits.numbers);
    int status = logits.numbers != NULL ? compute(model, batch, &logits, error) : graft_fail_memory(error, path);
    if (status == GRAFT_OK) {
        status = write(model, batch, &logits, path, error);
    }
    graft_free(logits.numbers);
    return status;
}
