/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps common beginnings of prompts in a folder (graft/host/sequences.h), so that the next run of the server need not
 * compute them again. Failures cost time but never an answer. */
#include <stdio.h>
#include <string.h>

#include "graft/host/model.h"
#include "serve/engine_parts.h"

int graft_engine_check_sessions(struct graft_engine *engine, struct graft_error *error) {
    int64_t tokens = 0;
    if (engine->options.session_folder == NULL) {
        return GRAFT_OK;
    }
    return engine->sequences != NULL
               ? graft_sequences_load_from(engine->sequences, engine->options.session_folder, NULL, 0, &tokens, error)
               : graft_error_set(error, GRAFT_ERROR_USAGE, "sessions", "are for models that generate text");
}

static void note(struct graft_engine *engine, const struct graft_error *error) {
    char text[sizeof engine->noted];
    (void)snprintf(text, sizeof text, "%s: %s", error->source, error->message);
    if (engine->options.on_note != NULL && strcmp(text, engine->noted) != 0) {
        memcpy(engine->noted, text, sizeof text);
        engine->options.on_note(engine->options.note_data, text);
    }
}

void graft_engine_load_session(struct graft_engine *engine, const struct graft_ids *ids) {
    struct graft_error error = graft_error_none();
    int64_t tokens = 0;
    if (engine->options.session_folder == NULL) {
        return;
    }
    if (graft_sequences_load_from(engine->sequences, engine->options.session_folder, ids->ids, ids->n, &tokens,
                                  &error) != GRAFT_OK) {
        note(engine, &error);
    }
    (void)pthread_mutex_lock(&engine->mutex);
    engine->counts.loaded_tokens += tokens;
    (void)pthread_mutex_unlock(&engine->mutex);
}

void graft_engine_save_sessions(struct graft_engine *engine) {
    struct graft_error error = graft_error_none();
    int64_t tokens = 0;
    if (engine->options.session_folder == NULL) {
        return;
    }
    if (graft_sequences_save_shared_in(engine->sequences, engine->options.session_folder, engine->options.session_bytes,
                                       &tokens, &error) != GRAFT_OK) {
        note(engine, &error);
    }
    (void)pthread_mutex_lock(&engine->mutex);
    engine->counts.saved_tokens += tokens;
    (void)pthread_mutex_unlock(&engine->mutex);
}
