/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a loaded model. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"

/* Prompts in the form that a session accepts, and slots 0 to n - 1. */
struct request {
    struct graft_session *session;
    struct graft_ids_view *views;
    int32_t *repeated; /* decoder ids that repeat_prompts made; NULL: none */
    int32_t *slots;
    int32_t *adapters;
};

static void request_finish(struct request *request) {
    graft_session_free(request->session);
    graft_free(request->views);
    graft_free(request->repeated);
    graft_free(request->slots);
    graft_free(request->adapters);
}

int graft_model_check_loaded(const struct graft_model *model, struct graft_error *error) {
    if (model->unset != NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, model->unset,
                              "has no value: the model is built from its config alone, and the class declares none");
        graft_error_hint(error, "open the model with its weights");
        return GRAFT_ERROR_USAGE;
    }
    if (model->head == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "the model is not loaded");
    }
    return GRAFT_OK;
}

int graft_model_check_ready(const struct graft_model *model, struct graft_error *error) {
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK && model->encoding.task != GRAFT_TASK_CAUSAL_LM) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "%s does not generate text",
                              model->tree->root->class_name);
        graft_error_hint(error, "graft_model_encode runs it");
        return GRAFT_ERROR_USAGE;
    }
    return status;
}

/* Prepares a request with a session that has `each` slots for each prompt. */
static int request_init(struct request *request, const struct graft_model *model, const struct graft_prompt *prompts,
                        size_t n, size_t each, struct graft_error *error) {
    *request = (struct request){0};
    int status = graft_model_check_ready(model, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (n == 0 || n > INT32_MAX / each) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "expected at least one prompt");
    }
    status = graft_model_check_prompts(model, prompts, n, error);
    if (status != GRAFT_OK) {
        return status;
    }
    request->views = graft_alloc(n, sizeof *request->views);
    request->slots = graft_alloc(n, sizeof *request->slots);
    request->adapters = graft_alloc(n, sizeof *request->adapters);
    if (request->views == NULL || request->slots == NULL || request->adapters == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_model_view_prompt(model, graft_struct_at(prompts, i), &request->views[i], error);
        request->slots[i] = (int32_t)i;
    }
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_model_session(model, (int32_t)(n * each), &request->session, error);
    return status == GRAFT_OK ? graft_model_find_adapters(model, prompts, n, request->adapters, error) : status;
}

static int generate(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                    const struct graft_generation *generation, graft_generated_function on_token, void *data,
                    struct graft_error *error) {
    struct graft_generation_settings settings = model->generation;
    struct request request = {0};
    int status = graft_model_choose_generation(model, generation, &settings, error);
    const size_t each = graft_generate_slots(&settings.generation);
    if (status == GRAFT_OK) {
        status = request_init(&request, model, prompts, n, each, error);
    }
    if (status == GRAFT_OK) {
        struct graft_run_options options = graft_model_run_options(model, (int32_t)(n * each));
        options.has_teams = each > 1;
        status = graft_generate(request.session, &options, request.views, request.adapters, n, &settings, on_token,
                                data, error);
    }
    request_finish(&request);
    return status;
}

int graft_model_generate_tokens(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                                const struct graft_generation *generation, graft_generated_function on_token,
                                void *data, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = generate(model, prompts, n, generation, on_token, data, error);
    (void)graft_context_enter(before);
    return status;
}

/* The callback of graft_model_generate. */
struct plain_sink {
    graft_token_function call;
    void *data;
};

static int on_plain_token(void *data, const struct graft_sequence_token *token, struct graft_error *error) {
    const struct plain_sink *sink = data;
    int last = token->end == GRAFT_SEQUENCE_STOPPED || token->end == GRAFT_SEQUENCE_COMPLETE;
    return sink->call(sink->data, (size_t)token->sequence, token->id, last, error);
}

int graft_model_generate(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                         const struct graft_generation *generation, graft_token_function on_token, void *data,
                         struct graft_error *error) {
    struct plain_sink sink = {on_token, data};
    return graft_model_generate_tokens(model, prompts, n, generation, on_plain_token, &sink, error);
}

/* Gives each prompt without decoder_ids as many decoder positions as it has tokens: the start token, then the prompt
 * without its last token. */
static int repeat_prompts(struct request *request, const struct graft_prompt *prompts, size_t n,
                          struct graft_error *error) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += request->views[i].n_source;
    }
    request->repeated = tokens > 0 ? graft_alloc(tokens, sizeof *request->repeated) : NULL;
    if (request->repeated == NULL) {
        return tokens > 0 ? graft_fail_memory(error, "prompt") : GRAFT_OK;
    }
    int32_t *ids = request->repeated;
    for (size_t i = 0; i < n; i++) {
        struct graft_ids_view *view = &request->views[i];
        if (view->n_source > 0 && !graft_prompt_has_decoder_ids(graft_struct_at(prompts, i))) {
            ids[0] = view->ids[0];
            memcpy(ids + 1, view->source, (view->n_source - 1) * sizeof *ids);
            view->ids = ids;
            view->count = view->n_source;
            ids += view->count;
        }
    }
    return GRAFT_OK;
}

static int give_logits(struct graft_model *model, const struct graft_prompt *prompts, size_t n, float *logits,
                       struct graft_error *error) {
    struct request request;
    const float *rows = NULL;
    size_t tokens = 0;
    int status = request_init(&request, model, prompts, n, 1, error);
    if (status == GRAFT_OK) {
        status = repeat_prompts(&request, prompts, n, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        graft_session_choose_adapter(request.session, request.slots[i], request.adapters[i]);
    }
    if (status == GRAFT_OK) {
        status = graft_session_step(request.session, request.slots, request.views, n, GRAFT_LOGITS_ALL, &rows, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        tokens += request.views[i].count;
    }
    if (status == GRAFT_OK && rows != NULL) {
        memcpy(logits, rows, tokens * (size_t)model->vocab_size * sizeof *logits);
    }
    request_finish(&request);
    return status;
}

int graft_model_logits(struct graft_model *model, const struct graft_prompt *prompts, size_t n, float *logits,
                       struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = give_logits(model, prompts, n, logits, error);
    (void)graft_context_enter(before);
    return status;
}
