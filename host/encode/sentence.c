/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/sentence.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_field.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_MODULES = GRAFT_SENTENCE_STEPS };

/* State while modules.json is read. */
struct reading {
    const struct graft_sentence_model *model;
    struct graft_sentence *sentence;
    int32_t has_pooling;
};

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

static int add_mode(const struct graft_field *field, struct graft_pooling *pooling, struct graft_error *error) {
    const char *name = graft_json_string(field->value, NULL);
    if (name == NULL) {
        return graft_field_wrong(field, "a string, or an array of strings", error);
    }
    for (size_t i = 0; i < MODES && pooling->n_modes < GRAFT_POOLING_MODES; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            pooling->modes[pooling->n_modes++] = modes[i].mode;
            return GRAFT_OK;
        }
    }
    return graft_field_error(field, error,
                             "expected up to %d of cls, max, mean, mean_sqrt_len_tokens, weightedmean and lasttoken, "
                             "got \"%s\"",
                             (int)GRAFT_POOLING_MODES, name);
}

/* Reads one name, or several in the order in which their vectors are concatenated. */
static int read_mode_names(const struct graft_field *field, struct graft_pooling *pooling, struct graft_error *error) {
    if (graft_json_type(field->value) != GRAFT_JSON_ARRAY) {
        return add_mode(field, pooling, error);
    }
    int status = graft_json_size(field->value) > 0 ? GRAFT_OK : graft_field_error(field, error, "the array is empty");
    for (size_t i = 0; i < graft_json_size(field->value) && status == GRAFT_OK; i++) {
        const struct graft_field mode = graft_field_at(field, i);
        status = add_mode(&mode, pooling, error);
    }
    return status;
}

/* Reads a boolean for each mode. The mean is on unless the file turns it off. */
static int read_mode_fields(const struct graft_field *root, struct graft_pooling *pooling, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < MODES && status == GRAFT_OK; i++) {
        const struct graft_member mode[] = {{modes[i].field, .kind = GRAFT_MEMBER_FLAG, .is_optional = 1}, {0}};
        int on = modes[i].mode == GRAFT_POOLING_MEAN;
        status = graft_field_read_some(root, mode, &on, error);
        if (on) {
            pooling->modes[pooling->n_modes++] = modes[i].mode;
        }
    }
    return status != GRAFT_OK || pooling->n_modes > 0
               ? status
               : graft_error_set(
                     error, GRAFT_ERROR_MODEL, root->file,
                     "pooling_mode_...: expected at least one of these fields to be true, but all are false");
}

/* Checks the width of token vectors, under the field's older or newer name. */
static int check_width(const struct reading *reading, const struct graft_field *root, struct graft_error *error) {
    static const char *const names[] = {"word_embedding_dimension", "embedding_dimension"};
    int64_t hidden_size = reading->model->hidden_size;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct graft_field width = graft_field_get(root, names[i]);
        if (!graft_field_is_none(&width) &&
            (graft_json_type(width.value) != GRAFT_JSON_INT || graft_json_int(width.value) != hidden_size)) {
            return graft_field_error(&width, error, "expected the model's hidden_size (%lld)", (long long)hidden_size);
        }
    }
    return GRAFT_OK;
}

static int read_pooling(struct reading *reading, const char *folder, struct graft_error *error) {
    struct graft_sentence *sentence = reading->sentence;
    struct graft_json_file file;
    int status = graft_json_file_open(&file, folder, "config.json", MAX_FILE_BYTES, 0, error);
    const struct graft_field names = graft_field_get(&file.root, "pooling_mode");
    sentence->pooling.n_modes = 0;
    if (status == GRAFT_OK) {
        status = graft_field_object(&file.root, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_field_is_none(&names) ? read_mode_fields(&file.root, &sentence->pooling, error)
                                             : read_mode_names(&names, &sentence->pooling, error);
    }
    if (status == GRAFT_OK) {
        status = check_width(reading, &file.root, error);
    }
    reading->has_pooling = 1;
    sentence->size = graft_pooling_size(&sentence->pooling, reading->model->hidden_size);
    sentence->largest = sentence->size;
    graft_json_file_close(&file);
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

/* The only input and output of modules that is supported. */
static const char *const embedding[] = {"sentence_embedding", NULL};

/* Older models have no config.json for Normalize. A newer one may ask to normalize another output, which is refused. */
static int read_normalize(struct reading *reading, const char *folder, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"module_input_name", .kind = GRAFT_MEMBER_CHOICE, .is_optional = 1, .names = embedding}, {0}};
    struct graft_sentence *sentence = reading->sentence;
    struct graft_json_file file;
    int input = 0;
    int status = graft_json_file_open(&file, folder, "config.json", MAX_FILE_BYTES, 1, error);
    if (status == GRAFT_OK && file.document != NULL) {
        status = graft_field_read_some(&file.root, members, &input, error);
    }
    sentence->steps[sentence->n_steps++] = (struct graft_sentence_step){0};
    graft_json_file_close(&file);
    return status;
}

/* Whether a path stays inside the model directory. */
static int is_inside(const char *path) {
    return path[0] != '/' && strstr(path, "..") == NULL;
}

/* Reads an element of modules.json. Types include the Python module that they are imported from; only the last
 * component counts. */
static int read_module(struct reading *reading, const struct graft_field *module, struct graft_error *error) {
    struct fields {
        const char *type, *path;
    } fields = {0};
    static const struct graft_member members[] = {
        {"type", .offset = offsetof(struct fields, type)}, {"path", .offset = offsetof(struct fields, path)}, {0}};
    const struct graft_field type = graft_field_get(module, "type"), path = graft_field_get(module, "path");
    int status = graft_field_read_some(module, members, &fields, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *dot = strrchr(fields.type, '.');
    const char *name = dot != NULL ? dot + 1 : fields.type;
    if (!is_inside(fields.path)) {
        return graft_field_error(&path, error, "\"%s\" leads out of the directory", fields.path);
    }
    if (module->index == 0 && strcmp(name, "Transformer") == 0) {
        return fields.path[0] == '\0'
                   ? GRAFT_OK
                   : graft_field_error(&path, error, "the model is in \"%s\"; expected it next to this file",
                                       fields.path);
    }
    const struct {
        const char *name;
        int32_t after_pooling;
        int (*read)(struct reading *reading, const char *folder, struct graft_error *error);
    } readers[] = {{"Pooling", 0, read_pooling}, {"Dense", 1, read_dense}, {"Normalize", 1, read_normalize}};
    for (size_t k = 0; module->index > 0 && k < sizeof readers / sizeof readers[0]; k++) {
        if (strcmp(name, readers[k].name) == 0 && reading->has_pooling == readers[k].after_pooling) {
            char *folder = graft_path_join(reading->model->directory, fields.path);
            status = folder != NULL ? readers[k].read(reading, folder, error) : graft_fail_memory(error, fields.path);
            graft_free(folder);
            return status;
        }
    }
    return graft_field_error(&type, error,
                             "\"%s\" is not supported here; expected Transformer, then Pooling, then Dense and "
                             "Normalize",
                             fields.type);
}

static int read_modules(struct reading *reading, const struct graft_field *modules, struct graft_error *error) {
    const size_t n = graft_json_size(modules->value);
    int status = GRAFT_OK;
    if (graft_json_type(modules->value) != GRAFT_JSON_ARRAY || n < 1 || n > MAX_MODULES) {
        return graft_field_error(modules, error, "expected an array of 1 to %d modules", MAX_MODULES);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_field module = graft_field_at(modules, i);
        status = read_module(reading, &module, error);
    }
    if (status == GRAFT_OK && !reading->has_pooling) {
        status = graft_field_error(modules, error, "there is no Pooling among the modules");
    }
    return status;
}

/* Reads the number of tokens at which texts are truncated: `max_seq_length`, or the model's maximum. */
static int read_length(struct reading *reading, struct graft_error *error) {
    struct fields {
        int64_t length;
        int lower;
    } fields = {.length = reading->model->max_tokens};
    const struct graft_member members[] = {
        {"max_seq_length", GRAFT_MEMBER_INT, offsetof(struct fields, length), 1, .least = 1,
         .most = (double)fields.length},
        {"do_lower_case", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, lower), .is_optional = 1},
        {0},
    };
    struct graft_json_file file;
    int status =
        graft_json_file_open(&file, reading->model->directory, "sentence_bert_config.json", MAX_FILE_BYTES, 1, error);
    if (status == GRAFT_OK && file.document != NULL) {
        status = graft_field_read_some(&file.root, members, &fields, error);
    }
    if (status == GRAFT_OK && fields.lower) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file.path,
                                 "do_lower_case: true is not supported; a normalizer in tokenizer.json does it");
    }
    reading->sentence->max_tokens = fields.length;
    graft_json_file_close(&file);
    return status;
}

static int check_prompts(const struct reading *reading, struct graft_error *error) {
    struct graft_json_file file;
    int status = graft_json_file_open(&file, reading->model->directory, "config_sentence_transformers.json",
                                      MAX_FILE_BYTES, 1, error);
    const struct graft_field name = graft_field_get(&file.root, "default_prompt_name");
    if (status == GRAFT_OK && file.document != NULL) {
        status = graft_field_object(&file.root, NULL, error);
    }
    if (status == GRAFT_OK && !graft_field_is_none(&name)) {
        status = graft_field_error(&name, error, "putting a prompt before each text is not supported");
    }
    graft_json_file_close(&file);
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
    struct graft_json_file file;
    *sentence = (struct graft_sentence){
        .pooling = {{GRAFT_POOLING_MEAN}, 1}, .size = model->hidden_size, .largest = model->hidden_size};
    int status = graft_json_file_open(&file, model->directory, "modules.json", MAX_FILE_BYTES, 1, error);
    if (status == GRAFT_OK && file.document == NULL) {
        status = refuse_without(model, file.path, error);
    } else if (status == GRAFT_OK) {
        status = read_modules(&reading, &file.root, error);
        if (status == GRAFT_OK) {
            status = read_length(&reading, error);
        }
        if (status == GRAFT_OK) {
            status = check_prompts(&reading, error);
        }
    }
    graft_json_file_close(&file);
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
