/* SPDX-License-Identifier: Apache-2.0 */
/* Records the inputs and outputs of modules of a loaded model. */
#include "hooks/record.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/encode.h"
#include "library/library.h"

typedef int run_function(struct graft_model *model, const void *prompts, size_t n, struct graft_error *error);

static int run_decoder(struct graft_model *model, const void *prompts, size_t n, struct graft_error *error) {
    const struct graft_prompt *in = prompts;
    struct graft_session *session = NULL;
    const float *logits = NULL;
    struct graft_ids_view *views = graft_alloc(n, sizeof *views);
    int32_t *slots = graft_alloc(n, sizeof *slots);
    int32_t *adapters = graft_alloc(n, sizeof *adapters);
    int status = views != NULL && slots != NULL && adapters != NULL
                     ? graft_model_session(model, (int32_t)n, &session, error)
                     : graft_fail_memory(error, model->directory);
    if (status == GRAFT_OK) {
        status = graft_model_find_adapters(model, in, n, adapters, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_model_view_prompt(model, graft_struct_at(in, i), &views[i], error);
        slots[i] = (int32_t)i;
        graft_session_choose_adapter(session, slots[i], adapters[i]);
    }
    if (status == GRAFT_OK) {
        graft_session_set_portion(session, 0); /* so that each recording is a single array */
        status = graft_session_step(session, slots, views, n, GRAFT_LOGITS_LAST, &logits, error);
    }
    graft_session_free(session);
    graft_free(views);
    graft_free(slots);
    graft_free(adapters);
    return status;
}

static int run_encoder(struct graft_model *model, const void *prompts, size_t n, struct graft_error *error) {
    const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs};
    return graft_model_encode(model, prompts, n, &outputs, error);
}

/* Records a run of `n` prompts of those lengths. */
static int record(struct graft_model *model, run_function *run, const void *prompts, const int64_t *lengths, size_t n,
                  uint32_t what, struct graft_recording **recording, struct graft_error *error) {
    const struct graft_record_request request = {what, lengths, n, model->attention->declared};
    struct graft_recording *made = NULL;
    int status = !graft_model_has_encoder(model)
                     ? graft_record_begin(model->tree, &request, &made, error)
                     : graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                                       "a model with an encoder and a decoder cannot be recorded");
    if (status == GRAFT_OK) {
        int32_t asked = model->attention_asked;
        model->attention_now = graft_record_attention(made);
        model->attention_asked = asked || (what & GRAFT_RECORD_ATTENTIONS) != 0;
        status = run(model, prompts, n, error);
        model->attention_now = model->attention->declared;
        model->attention_asked = asked;
    }
    if (status == GRAFT_OK) {
        status = graft_record_end(made, error);
    }
    if (status != GRAFT_OK) {
        graft_recording_free(made);
        return status;
    }
    *recording = made;
    return GRAFT_OK;
}

static int check(const struct graft_model *model, size_t n, uint32_t what, struct graft_error *error) {
    const uint32_t known =
        GRAFT_RECORD_HIDDEN_STATES | GRAFT_RECORD_ATTENTIONS | GRAFT_RECORD_ROUTER_LOGITS | GRAFT_RECORD_OUTPUTS;
    if (n == 0 || n > INT32_MAX) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "expected at least one prompt");
    }
    return what != 0 && (what & ~known) == 0 ? GRAFT_OK
                                             : graft_error_set(error, GRAFT_ERROR_USAGE, "what", "out of range");
}

static int record_decoder(struct graft_model *model, const struct graft_prompt *prompts, size_t n, uint32_t what,
                          struct graft_recording **recording, struct graft_error *error) {
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK) {
        status = check(model, n, what, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_prompts(model, prompts, n, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t *lengths = graft_alloc(n, sizeof *lengths);
    if (lengths == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_prompt *prompt = graft_struct_at(prompts, i);
        lengths[i] = (int64_t)prompt->count;
    }
    status = record(model, run_decoder, prompts, lengths, n, what, recording, error);
    graft_free(lengths);
    return status;
}

int graft_model_record(struct graft_model *model, const struct graft_prompt *prompts, size_t n, uint32_t what,
                       struct graft_recording **recording, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = record_decoder(model, prompts, n, what, recording, error);
    (void)graft_context_enter(before);
    return status;
}

static int record_encoder(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                          uint32_t what, struct graft_recording **recording, struct graft_error *error) {
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK) {
        status = check(model, n, what, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_structs(prompts, n, GRAFT_ENCODER_PROMPT_SIZE_1_0, "struct graft_encoder_prompt", error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t *lengths = graft_alloc(n, sizeof *lengths);
    if (lengths == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_encoder_prompt *prompt = graft_struct_at(prompts, i);
        lengths[i] = (int64_t)prompt->count;
    }
    status = record(model, run_encoder, prompts, lengths, n, what, recording, error);
    graft_free(lengths);
    return status;
}

int graft_model_record_encoder(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                               uint32_t what, struct graft_recording **recording, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = record_encoder(model, prompts, n, what, recording, error);
    (void)graft_context_enter(before);
    return status;
}
