/* SPDX-License-Identifier: Apache-2.0 */
/* What a model directory says about generating. */
#include "base/alloc.h"
#include "base/file.h"
#include "generate/generate.h"

enum { MAX_FILE_BYTES = 1 << 20, DEFAULT_NEW_TOKENS = 128, DEFAULT_TOP_K = 50 };

static int is_there(const graft_json *field) {
    return graft_json_type(field) != GRAFT_JSON_ABSENT && graft_json_type(field) != GRAFT_JSON_NULL;
}

static int refuse(const char *file, const char *name, const char *expected, const graft_json *field,
                  struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected %s, got %s", name, expected,
                           graft_json_type_name(field));
}

/* An id, or an array of ids. */
static int read_eos(const graft_json *document, const char *file, struct graft_generation_settings *settings,
                    struct graft_error *error) {
    const graft_json *field = graft_json_get(document, "eos_token_id");
    int is_array = graft_json_type(field) == GRAFT_JSON_ARRAY;
    size_t n = is_array ? graft_json_size(field) : 1;
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (n > GRAFT_MAX_EOS) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "eos_token_id: expected at most %d ids, got %zu",
                               GRAFT_MAX_EOS, n);
    }
    for (size_t i = 0; i < n; i++) {
        const graft_json *id = is_array ? graft_json_at(field, i) : field;
        if (graft_json_type(id) != GRAFT_JSON_INT || graft_json_int(id) < 0 || graft_json_int(id) > INT32_MAX) {
            return refuse(file, "eos_token_id", "a token id", id, error);
        }
        settings->eos[settings->n_eos++] = (int32_t)graft_json_int(id);
    }
    return GRAFT_OK;
}

static int read_count(const graft_json *document, const char *file, const char *name, int64_t *value,
                      struct graft_error *error) {
    const graft_json *field = graft_json_get(document, name);
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (graft_json_type(field) != GRAFT_JSON_INT || graft_json_int(field) < 0) {
        return refuse(file, name, "an integer that is not negative", field, error);
    }
    *value = graft_json_int(field);
    return GRAFT_OK;
}

/* A number above 0 and not above `maximum`. */
static int read_number(const graft_json *document, const char *file, const char *name, double maximum, double *value,
                       struct graft_error *error) {
    const graft_json *field = graft_json_get(document, name);
    double number = graft_json_real(field);
    int is_number = graft_json_type(field) == GRAFT_JSON_INT || graft_json_type(field) == GRAFT_JSON_REAL;
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (!is_number) {
        return refuse(file, name, "a number", field, error);
    }
    if (!(number > 0.0) || number > maximum) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected more than 0 and at most %g, got %g", name,
                               maximum, number);
    }
    *value = number;
    return GRAFT_OK;
}

static int read_generation(const graft_json *document, const char *file, struct graft_generation *generation,
                           struct graft_error *error) {
    const graft_json *do_sample = graft_json_get(document, "do_sample");
    int status = read_count(document, file, "max_new_tokens", &generation->max_new_tokens, error);
    if (is_there(do_sample) && graft_json_type(do_sample) != GRAFT_JSON_BOOL) {
        return refuse(file, "do_sample", "a boolean", do_sample, error);
    }
    generation->do_sample = graft_json_bool(do_sample);
    if (status == GRAFT_OK) {
        status = read_count(document, file, "top_k", &generation->top_k, error);
    }
    if (status == GRAFT_OK && generation->do_sample) {
        status = read_number(document, file, "temperature", 1e6, &generation->temperature, error);
    }
    if (status == GRAFT_OK && generation->do_sample) {
        status = read_number(document, file, "top_p", 1.0, &generation->top_p, error);
    }
    if (status == GRAFT_OK) {
        status = read_number(document, file, "repetition_penalty", 1e6, &generation->repetition_penalty, error);
    }
    return status;
}

int graft_generation_settings_read(const char *directory, const graft_json *config,
                                   struct graft_generation_settings *settings, struct graft_error *error) {
    graft_json *document = NULL;
    char *file = graft_path_join(directory, "generation_config.json");
    int status = GRAFT_OK;
    *settings = (struct graft_generation_settings){
        .generation =
            {
                .struct_size = sizeof settings->generation,
                .max_new_tokens = DEFAULT_NEW_TOKENS,
                .temperature = 1.0,
                .top_k = DEFAULT_TOP_K,
                .top_p = 1.0,
                .repetition_penalty = 1.0,
            },
    };
    if (file == NULL) {
        return graft_fail_memory(error, directory);
    }
    if (graft_file_exists(file)) {
        status = graft_json_read(file, MAX_FILE_BYTES, &document, error);
        if (status == GRAFT_OK && graft_json_type(document) != GRAFT_JSON_OBJECT) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file, "expected an object, got %s",
                                     graft_json_type_name(document));
        }
    }
    if (status == GRAFT_OK) {
        status = read_eos(document, file, settings, error);
    }
    if (status == GRAFT_OK) {
        status = read_generation(document, file, &settings->generation, error);
    }
    if (status == GRAFT_OK && settings->n_eos == 0) {
        status = read_eos(config, "config.json", settings, error);
    }
    if (status == GRAFT_OK && settings->n_eos == 0) {
        status = read_eos(graft_json_get(config, "text_config"), "config.json", settings, error);
    }
    graft_json_free(document);
    graft_free(file);
    return status;
}
