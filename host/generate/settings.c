/* SPDX-License-Identifier: Apache-2.0 */
/* What a model directory says about generating. */
#include "base/alloc.h"
#include "base/file.h"
#include "generate/generate.h"

enum { MAX_FILE_BYTES = 1 << 20, DEFAULT_NEW_TOKENS = 128 };

/* An id, or an array of ids. Returns GRAFT_OK with `*n_eos` unchanged when the field is absent. */
static int read_eos(const graft_json *document, const char *file, struct graft_generation_settings *settings,
                    struct graft_error *error) {
    const graft_json *field = graft_json_get(document, "eos_token_id");
    int is_array = graft_json_type(field) == GRAFT_JSON_ARRAY;
    size_t n = is_array ? graft_json_size(field) : 1;
    if (graft_json_type(field) == GRAFT_JSON_ABSENT || graft_json_type(field) == GRAFT_JSON_NULL) {
        return GRAFT_OK;
    }
    if (n > GRAFT_MAX_EOS) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "eos_token_id: expected at most %d ids, got %zu",
                               GRAFT_MAX_EOS, n);
    }
    for (size_t i = 0; i < n; i++) {
        const graft_json *id = is_array ? graft_json_at(field, i) : field;
        if (graft_json_type(id) != GRAFT_JSON_INT || graft_json_int(id) < 0 || graft_json_int(id) > INT32_MAX) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, file, "eos_token_id: expected a token id, got %s",
                                   graft_json_type_name(id));
        }
        settings->eos[settings->n_eos++] = (int32_t)graft_json_int(id);
    }
    return GRAFT_OK;
}

static int read_limit(const graft_json *document, const char *file, struct graft_generation_settings *settings,
                      struct graft_error *error) {
    const graft_json *field = graft_json_get(document, "max_new_tokens");
    if (graft_json_type(field) == GRAFT_JSON_ABSENT || graft_json_type(field) == GRAFT_JSON_NULL) {
        return GRAFT_OK;
    }
    if (graft_json_type(field) != GRAFT_JSON_INT || graft_json_int(field) < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "max_new_tokens: expected a number of tokens, got %s",
                               graft_json_type_name(field));
    }
    settings->max_new_tokens = graft_json_int(field);
    return GRAFT_OK;
}

int graft_generation_settings_read(const char *directory, const graft_json *config,
                                   struct graft_generation_settings *settings, struct graft_error *error) {
    graft_json *document = NULL;
    char *file = graft_path_join(directory, "generation_config.json");
    int status = GRAFT_OK;
    *settings = (struct graft_generation_settings){.max_new_tokens = DEFAULT_NEW_TOKENS};
    if (file == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, directory, "out of memory");
    }
    if (graft_file_exists(file)) {
        status = graft_json_read(file, MAX_FILE_BYTES, &document, error);
    }
    if (status == GRAFT_OK) {
        status = read_eos(document, file, settings, error);
    }
    if (status == GRAFT_OK) {
        status = read_limit(document, file, settings, error);
    }
    if (status == GRAFT_OK && settings->n_eos == 0) {
        status = read_eos(config, "config.json", settings, error);
    }
    graft_json_free(document);
    graft_free(file);
    return status;
}
