/* SPDX-License-Identifier: Apache-2.0 */
/* `verify` for encoders: compares all outputs of both models for the prompts. */
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands/verify.h"

/* The outputs of a model, in one block of memory. */
struct given {
    float *numbers;
    size_t count;
    struct graft_encoder_outputs outputs; /* pointers into `numbers` */
};

static size_t count_tokens(const struct graft_prompts *prompts) {
    size_t tokens = 0;
    for (size_t i = 0; i < prompts->count; i++) {
        tokens += prompts->prompts[i].count;
    }
    return tokens;
}

/* Reserves hidden states and pooled vectors for a model without a head, logits for one with a head. */
static int given_init(struct given *given, const struct graft_verification *run, const int32_t *rows,
                      struct graft_error *error) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    size_t texts = run->prompts.count;
    size_t tokens = count_tokens(&run->prompts);
    int32_t task = graft_model_task(run->model);
    graft_model_encoder_info(run->model, &info);
    size_t hidden = (size_t)info.hidden_size;
    size_t vocab_size = (size_t)graft_model_vocab_size(run->model);
    size_t columns = task == GRAFT_TASK_MASKED_LM ? vocab_size : (size_t)info.n_labels;
    size_t rows_of_logits = task == GRAFT_TASK_SEQUENCE_CLASSIFICATION ? texts : tokens;
    given->count = task == GRAFT_TASK_FEATURES ? (tokens + texts) * hidden : rows_of_logits * columns;
    given->numbers = graft_alloc(given->count, sizeof *given->numbers);
    given->outputs = (struct graft_encoder_outputs){
        .struct_size = sizeof given->outputs,
        .rows = rows,
        .n_rows = (int64_t)tokens,
    };
    if (given->numbers == NULL) {
        return graft_fail_memory(error, "verify");
    }
    if (task == GRAFT_TASK_FEATURES) {
        given->outputs.last_hidden_state = given->numbers;
        given->outputs.pooler_output = info.has_pooler ? given->numbers + tokens * hidden : NULL;
    } else {
        given->outputs.logits = given->numbers;
    }
    return GRAFT_OK;
}

static int encode(const struct graft_verification *run, struct graft_model *model, const struct given *given,
                  struct graft_error *error) {
    size_t n = run->prompts.count;
    struct graft_encoder_prompt *prompts = graft_alloc(n, sizeof *prompts);
    if (prompts == NULL) {
        return graft_fail_memory(error, "verify");
    }
    for (size_t i = 0; i < n; i++) {
        prompts[i] = (struct graft_encoder_prompt){
            .struct_size = sizeof *prompts, .ids = run->prompts.prompts[i].ids, .count = run->prompts.prompts[i].count};
    }
    int status = graft_model_encode(model, prompts, n, &given->outputs, error);
    graft_free(prompts);
    return status;
}

int graft_verify_encoder(struct graft_verification *run, struct graft_error *error) {
    size_t tokens = count_tokens(&run->prompts);
    struct given given = {0}, original = {0};
    struct graft_error failure = graft_error_none();
    int32_t *rows = graft_alloc(tokens, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < tokens; i++) {
        rows[i] = (int32_t)i;
    }
    int status = rows != NULL ? given_init(&given, run, rows, error) : graft_fail_memory(error, "verify");
    if (status == GRAFT_OK) {
        status = given_init(&original, run, rows, error);
    }
    if (status == GRAFT_OK) {
        status = encode(run, run->model, &given, error);
    }
    if (status == GRAFT_OK) {
        status = graft_verify_original(encode(run, run->original, &original, &failure), &failure, error);
    }
    if (status == GRAFT_OK) {
        graft_difference_add(&run->logits, given.numbers, original.numbers, (int64_t)given.count);
        run->positions =
            (int64_t)(graft_model_task(run->model) == GRAFT_TASK_SEQUENCE_CLASSIFICATION ? run->prompts.count : tokens);
    }
    graft_free(given.numbers);
    graft_free(original.numbers);
    graft_free(rows);
    return status;
}
