/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a loaded model on whole texts. */
#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"
#include "parallel/ranks.h"

static int refuse(const struct graft_model *model, const char *what, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "%s %s", model->tree->root->class_name, what);
}

/* Checks that the model outputs hidden states, and that this process has all of them. */
static int check_reads(const struct graft_model *model, struct graft_error *error) {
    if (model->encoding.reader == NULL) {
        return refuse(model, "gives no hidden states: it has no base model below its head that tells its hidden_size",
                      error);
    }
    return graft_ranks_get()->size > 1
               ? refuse(model, "is spread over several processes, which generate text and do nothing else", error)
               : GRAFT_OK;
}

/* Creates the session of a loaded model when it is first needed. */
static int prepare(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                   struct graft_error *error) {
    struct graft_model_encoding *encoding = &model->encoding;
    int status = graft_model_check_loaded(model, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = check_reads(model, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (n == 0 || n > INT32_MAX) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "expected at least one text");
    }
    status = graft_check_structs(prompts, n, GRAFT_ENCODER_PROMPT_SIZE_1_0, "struct graft_encoder_prompt", error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_encode_limits limits = {model->vocab_size, encoding->info.token_types,
                                               encoding->info.max_tokens};
    if (encoding->session == NULL) {
        status = graft_encode_session_create(&encoding->reader->module, encoding->reader->made_by->cls->interface_id,
                                             &limits, model->precision, &encoding->session, error);
    }
    if (status == GRAFT_OK) {
        graft_encode_session_use(encoding->session, model->attention_now, model->attention_asked);
    }
    return status;
}

static size_t count_tokens(const struct graft_encoder_prompt *prompts, size_t n) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        const struct graft_encoder_prompt *prompt = graft_struct_at(prompts, i);
        tokens += prompt->count;
    }
    return tokens;
}

static int check_outputs(const struct graft_model *model, size_t tokens, const struct graft_encoder_outputs *outputs,
                         struct graft_error *error) {
    int32_t task = model->encoding.task;
    if (outputs->logits != NULL && task == GRAFT_TASK_FEATURES) {
        return refuse(model, "has no head, and so no logits", error);
    }
    if (outputs->logits != NULL && task == GRAFT_TASK_CAUSAL_LM) {
        (void)refuse(model, "generates text, and has no logits of whole texts", error);
        graft_error_hint(error, "graft_model_logits gives those of a prompt");
        return GRAFT_ERROR_USAGE;
    }
    if (outputs->pooler_output != NULL && !model->encoding.info.has_pooler) {
        return refuse(model, "has no pooler_output", error);
    }
    if (outputs->n_rows < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "n_rows", "out of range");
    }
    for (int64_t i = 0; task == GRAFT_TASK_MASKED_LM && outputs->logits != NULL && i < outputs->n_rows; i++) {
        int64_t row = outputs->rows[i];
        if (row < 0 || (uint64_t)row >= tokens || (i > 0 && row <= outputs->rows[i - 1])) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "rows", "expected ascending numbers of tokens");
        }
    }
    return GRAFT_OK;
}

/* Runs texts. A model without a head needs memory for its hidden states. */
static int run(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
               const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    struct graft_encoder_outputs all = *outputs;
    float *hidden = NULL;
    int has_head = model->encoding.task != GRAFT_TASK_FEATURES && model->encoding.task != GRAFT_TASK_CAUSAL_LM;
    if (!has_head && all.last_hidden_state == NULL) {
        size_t row = (size_t)model->encoding.info.hidden_size * sizeof *hidden;
        all.last_hidden_state = hidden = graft_alloc(count_tokens(prompts, n), row);
        if (hidden == NULL) {
            return graft_fail_memory(error, model->directory);
        }
    }
    int status = graft_encode_session_run(model->encoding.session, prompts, n, &all, error);
    graft_free(hidden);
    return status;
}

static int encode_texts(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                        const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    int status = prepare(model, prompts, n, error);
    if (status == GRAFT_OK) {
        status = graft_check_given(outputs, GRAFT_ENCODER_OUTPUTS_SIZE_1_0, "struct graft_encoder_outputs", error);
    }
    if (status == GRAFT_OK) {
        status = check_outputs(model, count_tokens(prompts, n), outputs, error);
    }
    return status == GRAFT_OK ? run(model, prompts, n, outputs, error) : status;
}

int graft_model_encode(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                       const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = encode_texts(model, prompts, n, outputs, error);
    (void)graft_context_enter(before);
    return status;
}

static int read_sentence(struct graft_model *model, struct graft_error *error) {
    struct graft_model_encoding *encoding = &model->encoding;
    int status = check_reads(model, error);
    if (status != GRAFT_OK || encoding->has_sentence) {
        return status;
    }
    const struct graft_sentence_model about = {model->directory, encoding->info.max_tokens, encoding->info.hidden_size,
                                               encoding->is_decoder};
    status = graft_sentence_read(&about, &encoding->sentence, error);
    encoding->has_sentence = status == GRAFT_OK;
    return status;
}

int graft_model_embedding(struct graft_model *model, struct graft_embedding_info *embedding,
                          struct graft_error *error) {
    int status = graft_check_given(embedding, GRAFT_EMBEDDING_INFO_SIZE_1_0, "struct graft_embedding_info", error);
    if (status == GRAFT_OK) {
        status = read_sentence(model, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_sentence *sentence = &model->encoding.sentence;
        const struct graft_embedding_info info = {
            .struct_size = sizeof info, .size = sentence->size, .max_tokens = sentence->max_tokens};
        graft_struct_copy(embedding, embedding->struct_size, &info);
    }
    return status;
}

static int embed_texts(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n, float *vectors,
                       struct graft_error *error) {
    struct graft_model_encoding *encoding = &model->encoding;
    int64_t columns = encoding->info.hidden_size;
    int status = read_sentence(model, error);
    if (status == GRAFT_OK) {
        status = prepare(model, prompts, n, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_sentence *sentence = &encoding->sentence;
    float *hidden = graft_alloc(count_tokens(prompts, n), (size_t)columns * sizeof *hidden);
    float *work = graft_alloc(2 * (size_t)sentence->largest, sizeof *work);
    const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .last_hidden_state = hidden};
    status = hidden != NULL && work != NULL ? graft_encode_session_run(encoding->session, prompts, n, &outputs, error)
                                            : graft_fail_memory(error, model->directory);
    const float *text = hidden;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_encoder_prompt *prompt = graft_struct_at(prompts, i);
        graft_sentence_run(sentence, text, (int64_t)prompt->count, columns, work,
                           vectors + (int64_t)i * sentence->size);
        text += (int64_t)prompt->count * columns;
    }
    graft_free(work);
    graft_free(hidden);
    return status;
}

int graft_model_embed(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n, float *vectors,
                      struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = embed_texts(model, prompts, n, vectors, error);
    (void)graft_context_enter(before);
    return status;
}
