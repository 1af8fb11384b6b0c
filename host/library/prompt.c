/* SPDX-License-Identifier: Apache-2.0 */
/* Converts prompts into inputs of a session, for a decoder alone or for an encoder and a decoder. */
#include "base/fail.h"
#include "library/library.h"

int graft_model_has_encoder(const struct graft_model *model) {
    return graft_tree_number(model->tree, "has_encoder", 0) != 0;
}

static int check_source(const struct graft_model *model, const struct graft_prompt *prompt, struct graft_error *error) {
    const int64_t most = graft_tree_number(model->tree, "max_source_positions", 0);
    if (prompt->count == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "it has no tokens");
    }
    if (most > 0 && prompt->count > (size_t)most) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "it has %zu tokens, but the encoder has positions for %lld", prompt->count,
                               (long long)most);
    }
    for (size_t i = 0; i < prompt->count; i++) {
        if (prompt->ids[i] < 0 || prompt->ids[i] >= model->vocab_size) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                   "token id %ld is outside the model's vocabulary of %lld", (long)prompt->ids[i],
                                   (long long)model->vocab_size);
        }
    }
    return GRAFT_OK;
}

int graft_prompt_has_decoder_ids(const struct graft_prompt *prompt) {
    return GRAFT_HAS(prompt, struct graft_prompt, n_decoder_ids) && prompt->n_decoder_ids > 0;
}

int graft_model_view_prompt(const struct graft_model *model, const struct graft_prompt *prompt,
                            struct graft_ids_view *view, struct graft_error *error) {
    const int has_ids = graft_prompt_has_decoder_ids(prompt);
    const struct graft_generation_settings *settings = &model->generation;
    *view = (struct graft_ids_view){
        .ids = prompt->ids, .count = prompt->count, .images = prompt->images, .n_images = prompt->n_images};
    if (!graft_model_has_encoder(model)) {
        return has_ids ? graft_error_set(error, GRAFT_ERROR_USAGE, "decoder_ids", "the model has no encoder")
                       : GRAFT_OK;
    }
    if (!has_ids && (settings->decoder_start < 0 || settings->decoder_start >= model->vocab_size)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, settings->file,
                               settings->decoder_start < 0
                                   ? "decoder_start_token_id: missing, expected the token that the decoder starts with"
                                   : "decoder_start_token_id: is outside the model's vocabulary");
    }
    *view = (struct graft_ids_view){
        .ids = has_ids ? prompt->decoder_ids : &settings->decoder_start,
        .count = has_ids ? prompt->n_decoder_ids : 1,
        .source = prompt->ids,
        .n_source = prompt->count,
    };
    return check_source(model, prompt, error);
}

int graft_model_feed_token(const struct graft_model *model, struct graft_session *session, int32_t slot,
                           enum graft_logits_rows which, struct graft_error *error) {
    static const int32_t id = 0;
    const struct graft_ids_view news = {
        .ids = &id, .count = 1, .source = &id, .n_source = (size_t)graft_model_has_encoder(model)};
    const float *logits;
    return graft_session_step(session, &slot, &news, 1, which, &logits, error);
}
