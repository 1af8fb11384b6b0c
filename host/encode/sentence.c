/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/sentence.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_MODULES = GRAFT_SENTENCE_STEPS };

/* State while modules.json is read. */
struct reading {
    const struct graft_sentence_model *model;
    struct graft_sentence *sentence;
    int32_t has_pooling;
};

static int is_there(const graft_json *field) {
    return graft_json_type(field) != GRAFT_JSON_ABSENT && graft_json_type(field) != GRAFT_JSON_NULL;
}

static int expected(const char *file, const char *field, const char *what, const graft_json *value,
                    struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected %s, got %s", field, what,
                           graft_json_type_name(value));
}

/* Reads an object from a file of the directory. *document is NULL if an optional file does not exist. */
static int read_object(const char *directory, const char *name, int optional, char **file, graft_json **document,
                       struct graft_error *error) {
    *document = NULL;
    *file = graft_path_join(directory, name);
    if (*file == NULL) {
        return graft_fail_memory(error, name);
    }
    if (optional && !graft_file_exists(*file)) {
        return GRAFT_OK;
    }
    int status = graft_json_read(*file, MAX_FILE_BYTES, document, error);
    if (status == GRAFT_OK && graft_json_type(*document) != GRAFT_JSON_OBJECT) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, *file, "expected an object, got %s",
                                 graft_json_type_name(*document));
    }
    return status;
}

static const struct {
    const char *field; /* name in older files, a boolean */
    const char *name;  /* name in newer files, a value of `pooling_mode` */
    int32_t mode;
} modes[] = {
    {"pooling_mode_cls_token", "cls", GRAFT_POOLING_CLS},
    {"pooling_mode_max_tokens", "max", GRAFT_POOLING_MAX},
    {"pooling_mode_mean_tokens", "mean", GRAFT_POOLING_MEAN},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", GRAFT_POOLING_MEAN_SQRT_LEN},
    {"pooling_mode_weightedmean_tokens", "weightedmean", GRAFT_POOLING_WEIGHTED_MEAN},
    {"pooling_mode_lasttoken", "lasttoken", GRAFT_POOLING_LAST},
};

enum { MODES = sizeof modes / sizeof modes[0] };

static int add_mode(const char *file, const graft_json *value, struct graft_pooling *pooling,
                    struct graft_error *error) {
    const char *name = graft_json_string(value, NULL);
    if (name == NULL) {
        return expected(file, "pooling_mode", "a string, or an array of strings", value, error);
    }
    for (size_t i = 0; i < MODES && pooling->n_modes < GRAFT_POOLING_MODES; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            pooling->modes[pooling->n_modes++] = modes[i].mode;
            return GRAFT_OK;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                           "pooling_mode: expected up to %d of cls, max, mean, mean_sqrt_len_tokens, weightedmean and "
                           "lasttoken, got \"%s\"",
                           (int)GRAFT_POOLING_MODES, name);
}

/* Reads one name, or several in the order in which their vectors are concatenated. */
static int read_mode_names(const char *file, const graft_json *value, struct graft_pooling *pooling,
                           struct graft_error *error) {
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return add_mode(file, value, pooling, error);
    }
    int status = graft_json_size(value) > 0
                     ? GRAFT_OK
                     : graft_error_set(error, GRAFT_ERROR_MODEL, file, "pooling_mode: the array is empty");
    for (size_t i = 0; i < graft_json_size(value) && status == GRAFT_OK; i++) {
        status = add_mode(file, graft_json_at(value, i), pooling, error);
    }
    return status;
}

/* Reads a boolean for each mode. The mean is on unless the file turns it off. */
static int read_mode_fields(const char *file, const graft_json *document, struct graft_pooling *pooling,
                            struct graft_error *error) {
    for (size_t i = 0; i < MODES; i++) {
        const graft_json *value = graft_json_get(document, modes[i].field);
        int on = modes[i].mode == GRAFT_POOLING_MEAN;
        if (is_there(value) && graft_json_type(value) != GRAFT_JSON_BOOL) {
            return expected(file, modes[i].field, "a boolean", value, error);
        }
        if (is_there(value)) {
            on = graft_json_bool(value);
        }
        if (on) {
            pooling->modes[pooling->n_modes++] = modes[i].mode;
        }
    }
    return pooling->n_modes > 0
               ? GRAFT_OK
               : graft_error_set(
                     error, GRAFT_ERROR_MODEL, file,
                     "pooling_mode_...: expected at least one of these fields to be true, but all are false");
}

/* Checks the width of token vectors, under the field's older or newer name. */
static int check_width(const struct reading *reading, const char *file, const graft_json *document,
                       struct graft_error *error) {
    static const char *const names[] = {"word_embedding_dimension", "embedding_dimension"};
    int64_t hidden_size = reading->model->hidden_size;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const graft_json *width = graft_json_get(document, names[i]);
        if (is_there(width) && (graft_json_type(width) != GRAFT_JSON_INT || graft_json_int(width) != hidden_size)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected the model's hidden_size (%lld)",
                                   names[i], (long long)hidden_size);
        }
    }
    return GRAFT_OK;
}

static int read_pooling(struct reading *reading, const char *folder, struct graft_error *error) {
    struct graft_sentence *sentence = reading->sentence;
    char *file = NULL;
    graft_json *document = NULL;
    int status = read_object(folder, "config.json", 0, &file, &document, error);
    const graft_json *names = graft_json_get(document, "pooling_mode");
    sentence->pooling.n_modes = 0;
    if (status == GRAFT_OK) {
        status = is_there(names) ? read_mode_names(file, names, &sentence->pooling, error)
                                 : read_mode_fields(file, document, &sentence->pooling, error);
    }
    if (status == GRAFT_OK) {
        status = check_width(reading, file, document, error);
    }
    reading->has_pooling = 1;
    sentence->size = graft_pooling_size(&sentence->pooling, reading->model->hidden_size);
    sentence->largest = sentence->size;
    graft_json_free(document);
    graft_free(file);
    return status;
}

static int read_dense(struct reading *reading, const char *folder, struct graft_error *error) {
    struct graft_sentence *sentence = reading->sentence;
    struct graft_dense *dense = &sentence->steps[sentence->n_steps].dense;
    int status = graft_dense_read(folder, sentence->size, dense, error);
    if (status == GRAFT_OK) {
        sentence->n_steps++;
        sentence->size = dense->out_features;
        sentence->largest = sentence->largest > sentence->size ? sentence->largest : sentence->size;
    }
    return status;
}

/* Older models have no config.json for Normalize. A newer one may ask to normalize another output, which is refused. */
static int read_normalize(struct reading *reading, const char *folder, struct graft_error *error) {
    struct graft_sentence *sentence = reading->sentence;
    char *file = NULL;
    graft_json *document = NULL;
    int status = read_object(folder, "config.json", 1, &file, &document, error);
    const char *input = graft_json_string(graft_json_get(document, "module_input_name"), NULL);
    if (status == GRAFT_OK && input != NULL && strcmp(input, "sentence_embedding") != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "module_input_name: expected \"sentence_embedding\", got \"%s\"", input);
    }
    sentence->steps[sentence->n_steps++] = (struct graft_sentence_step){0};
    graft_json_free(document);
    graft_free(file);
    return status;
}

/* Whether a path stays inside the model directory. */
static int is_inside(const char *path) {
    return path[0] != '/' && strstr(path, "..") == NULL;
}

/* Reads an element of modules.json. Types include the Python module that they are imported from; only the last
 * component counts. */
static int read_module(struct reading *reading, const char *file, const graft_json *module, size_t i,
                       struct graft_error *error) {
    const char *type = graft_json_string(graft_json_get(module, "type"), NULL);
    const char *path = graft_json_string(graft_json_get(module, "path"), NULL);
    if (type == NULL || path == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "module %zu: expected an object with the strings \"type\" and \"path\"", i);
    }
    const char *dot = strrchr(type, '.');
    const char *name = dot != NULL ? dot + 1 : type;
    if (!is_inside(path)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%zu.path: \"%s\" leads out of the directory", i, path);
    }
    if (i == 0 && strcmp(name, "Transformer") == 0) {
        return path[0] == '\0' ? GRAFT_OK
                               : graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                                 "0.path: the model is in \"%s\"; expected it next to this file", path);
    }
    const struct {
        const char *name;
        int32_t after_pooling;
        int (*read)(struct reading *reading, const char *folder, struct graft_error *error);
    } readers[] = {{"Pooling", 0, read_pooling}, {"Dense", 1, read_dense}, {"Normalize", 1, read_normalize}};
    for (size_t k = 0; i > 0 && k < sizeof readers / sizeof readers[0]; k++) {
        if (strcmp(name, readers[k].name) == 0 && reading->has_pooling == readers[k].after_pooling) {
            char *folder = graft_path_join(reading->model->directory, path);
            int status = folder != NULL ? readers[k].read(reading, folder, error) : graft_fail_memory(error, path);
            graft_free(folder);
            return status;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                           "%zu.type: \"%s\" is not supported here; expected Transformer, then Pooling, then Dense "
                           "and Normalize",
                           i, type);
}

static int read_modules(struct reading *reading, const char *file, struct graft_error *error) {
    graft_json *document = NULL;
    int status = graft_json_read(file, MAX_FILE_BYTES, &document, error);
    size_t n = graft_json_size(document);
    if (status == GRAFT_OK && (graft_json_type(document) != GRAFT_JSON_ARRAY || n < 1 || n > MAX_MODULES)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file, "expected an array of 1 to %d modules", MAX_MODULES);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_module(reading, file, graft_json_at(document, i), i, error);
    }
    if (status == GRAFT_OK && !reading->has_pooling) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file, "there is no Pooling among the modules");
    }
    graft_json_free(document);
    return status;
}

/* Reads the number of tokens at which texts are truncated: `max_seq_length`, or the model's maximum. */
static int read_length(struct reading *reading, struct graft_error *error) {
    char *file = NULL;
    graft_json *document = NULL;
    int status = read_object(reading->model->directory, "sentence_bert_config.json", 1, &file, &document, error);
    const graft_json *length = graft_json_get(document, "max_seq_length");
    const graft_json *lower = graft_json_get(document, "do_lower_case");
    reading->sentence->max_tokens = reading->model->max_tokens;
    if (status == GRAFT_OK && is_there(length)) {
        if (graft_json_type(length) != GRAFT_JSON_INT || graft_json_int(length) < 1 ||
            graft_json_int(length) > reading->model->max_tokens) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                     "max_seq_length: expected 1 to %lld, as many as the model reads",
                                     (long long)reading->model->max_tokens);
        } else {
            reading->sentence->max_tokens = graft_json_int(length);
        }
    }
    if (status == GRAFT_OK && graft_json_bool(lower)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "do_lower_case: true is not supported; a normalizer in tokenizer.json does it");
    }
    graft_json_free(document);
    graft_free(file);
    return status;
}

static int check_prompts(const struct reading *reading, struct graft_error *error) {
    char *file = NULL;
    graft_json *document = NULL;
    int status =
        read_object(reading->model->directory, "config_sentence_transformers.json", 1, &file, &document, error);
    if (status == GRAFT_OK && is_there(graft_json_get(document, "default_prompt_name"))) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "default_prompt_name: putting a prompt before each text is not supported");
    }
    graft_json_free(document);
    graft_free(file);
    return status;
}

/* Refuses a decoder without modules.json: some are pooled by the last token and some by the mean, so no default is
 * safe. */
static int refuse_without(const struct graft_sentence_model *model, const char *file, struct graft_error *error) {
    if (!model->is_decoder) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                           "missing: expected the file of sentence-transformers that says how a decoder's vectors are "
                           "made, by a Pooling module whose config.json has pooling_mode \"lasttoken\" or \"mean\"");
}

int graft_sentence_read(const struct graft_sentence_model *model, struct graft_sentence *sentence,
                        struct graft_error *error) {
    struct reading reading = {model, sentence, 0};
    char *file = graft_path_join(model->directory, "modules.json");
    *sentence = (struct graft_sentence){
        .pooling = {{GRAFT_POOLING_MEAN}, 1}, .size = model->hidden_size, .largest = model->hidden_size};
    if (file == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    int status = GRAFT_OK;
    if (graft_file_exists(file)) {
        status = read_modules(&reading, file, error);
        if (status == GRAFT_OK) {
            status = read_length(&reading, error);
        }
        if (status == GRAFT_OK) {
            status = check_prompts(&reading, error);
        }
    } else {
        status = refuse_without(model, file, error);
    }
    graft_free(file);
    if (status != GRAFT_OK) {
        graft_sentence_finish(sentence);
    }
    return status;
}

void graft_sentence_finish(struct graft_sentence *sentence) {
    for (int32_t i = 0; i < sentence->n_steps; i++) {
        graft_dense_finish(&sentence->steps[i].dense);
    }
    sentence->n_steps = 0;
}

void graft_sentence_run(const struct graft_sentence *sentence, const float *hidden, int64_t tokens, int64_t hidden_size,
                        float *work, float *vector) {
    float *now = work;
    float *next = work + sentence->largest;
    int64_t size = graft_pooling_size(&sentence->pooling, hidden_size);
    graft_pooling_run(&sentence->pooling, hidden, tokens, hidden_size, now);
    for (int32_t i = 0; i < sentence->n_steps; i++) {
        const struct graft_dense *dense = &sentence->steps[i].dense;
        if (dense->weight == NULL) {
            graft_vector_normalize(now, size);
            continue;
        }
        graft_dense_run(dense, now, next);
        size = dense->out_features;
        float *before = now;
        now = next;
        next = before;
    }
    memcpy(vector, now, (size_t)size * sizeof *vector);
}
