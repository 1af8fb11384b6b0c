/* SPDX-License-Identifier: Apache-2.0 */
/* test_readers CASES-FOLDER PLUGINS-FOLDER [NAME...]: compares a miniature of each encoder, with each of its heads,
 * with the reference: texts in one ragged batch, the plan, saving; and again with the plugins of a folder, which join
 * the projections of queries, keys and values. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "check.h"
#include "golden.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "miniature.h"
#include "weights/safetensors.h"

enum { MAX_FILE_BYTES = 1 << 24, MAX_TEXTS = 2, MAX_TOKENS = 32, MAX_ROWS = MAX_TEXTS * MAX_TOKENS };

struct texts {
    int32_t ids[MAX_TEXTS][MAX_TOKENS];
    int32_t types[MAX_TEXTS][MAX_TOKENS];
    struct graft_encoder_prompt prompts[MAX_TEXTS];
    size_t n;
    size_t tokens;
};

/* A case that runs. */
struct reader_case {
    const char *name;
    const char *directory;
    double tolerance;
    const struct texts *texts;
    struct graft_model *model;
};

static size_t read_row(const graft_json *rows, size_t i, int32_t *numbers) {
    const graft_json *row = graft_json_at(rows, i);
    const size_t n = graft_json_size(row);
    check(n <= MAX_TOKENS, "text %zu is too long for this test", i);
    for (size_t j = 0; j < n && j < MAX_TOKENS; j++) {
        numbers[j] = (int32_t)graft_json_int(graft_json_at(row, j));
    }
    return n;
}

static void read_texts(struct texts *texts, const graft_json *rows, const graft_json *types) {
    *texts = (struct texts){.n = graft_json_size(rows)};
    check(texts->n > 0 && texts->n <= MAX_TEXTS, "%zu texts", texts->n);
    for (size_t i = 0; i < texts->n && i < MAX_TEXTS; i++) {
        const size_t count = read_row(rows, i, texts->ids[i]);
        texts->prompts[i] = (struct graft_encoder_prompt){
            .struct_size = sizeof texts->prompts[i], .ids = texts->ids[i], .count = count};
        texts->tokens += count;
        if (types != NULL) {
            (void)read_row(types, i, texts->types[i]);
            texts->prompts[i].token_type_ids = texts->types[i];
        }
    }
}

/* Compares an output of the model with the reference's. `numbers` has the output for each text in turn. */
static void compare(const struct reader_case *self, const struct graft_safetensors *file, const char *what,
                    const float *numbers, size_t columns, int by_token) {
    for (size_t i = 0; i < self->texts->n; i++) {
        char key[64];
        const size_t rows = by_token ? self->texts->prompts[i].count : 1;
        (void)snprintf(key, sizeof key, "%s.%zu", what, i);
        const struct graft_tensor_view *expected = graft_safetensors_find(file, key);
        check(expected != NULL && (size_t)expected->bytes == rows * columns * sizeof *numbers, "%s: no %s of %zu x %zu",
              self->name, key, rows, columns);
        if (expected != NULL && (size_t)expected->bytes == rows * columns * sizeof *numbers) {
            const double difference = max_difference(numbers, expected->data, rows * columns);
            check(difference <= self->tolerance, "%s: %s differs by %.1e, at most %.1e expected", self->name, key,
                  difference, self->tolerance);
        }
        numbers += rows * columns;
    }
}

static void compare_outputs(const struct reader_case *self) {
    struct graft_error error = graft_error_none();
    struct graft_encoder_info info = {.struct_size = sizeof info};
    struct graft_safetensors *file = NULL;
    int32_t rows[MAX_ROWS];
    const int32_t task = graft_model_task(self->model);
    graft_model_encoder_info(self->model, &info);
    const size_t width = (size_t)info.hidden_size, tokens = self->texts->tokens;
    const size_t columns =
        task == GRAFT_TASK_MASKED_LM ? (size_t)graft_model_vocab_size(self->model) : (size_t)info.n_labels;
    float *hidden = need_memory(tokens * width, sizeof *hidden);
    float *pooled = info.has_pooler ? need_memory(self->texts->n * width, sizeof *pooled) : NULL;
    float *logits = columns > 0 ? need_memory(tokens * columns, sizeof *logits) : NULL;
    for (size_t i = 0; i < tokens; i++) {
        rows[i] = (int32_t)i;
    }
    const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs,
                                                  .last_hidden_state = hidden,
                                                  .pooler_output = pooled,
                                                  .logits = logits,
                                                  .rows = rows,
                                                  .n_rows = (int64_t)tokens};
    need(graft_model_encode(self->model, self->texts->prompts, self->texts->n, &outputs, &error), &error);
    need(graft_safetensors_open(folder_path(self->directory, "golden.safetensors"), &file, &error), &error);
    if (logits != NULL) {
        compare(self, file, "logits", logits, columns, task != GRAFT_TASK_SEQUENCE_CLASSIFICATION);
    } else {
        compare(self, file, "last_hidden_state", hidden, width, 1);
    }
    check((graft_safetensors_find(file, "pooler_output.0") != NULL) == (pooled != NULL), "%s: pooler", self->name);
    if (pooled != NULL) {
        compare(self, file, "pooler_output", pooled, width, 0);
    }
    graft_safetensors_close(file);
    free(hidden);
    free(pooled);
    free(logits);
}

static void wrong(void *data, const char *what) {
    const struct reader_case *self = data;
    check(0, "%s: %s", self->name, what);
}

static void run_case(struct graft_library *library, struct reader_case *self, int is_joined) {
    struct graft_error error = graft_error_none();
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    const int before = check_failures();
    need(graft_model_open(library, self->directory, &options, &self->model, &error), &error);
    need(graft_model_load(self->model, &error), &error);
    compare_outputs(self);
    miniature_check_plan(self->model, wrong, self);
    miniature_check_saved(self->model, self->directory, wrong, self);
    graft_model_free(self->model);
    (void)printf("%s %s%s\n", check_failures() == before ? "ok" : "not ok", self->name, is_joined ? ", joined" : "");
}

/* Runs all cases with the plugins of the folder `plugins`; NULL: without plugins. */
static void run_all(const char *cases, const graft_json *document, const char *plugins, char **names, int n) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    const graft_json *item;
    const char *name;
    void *iterator = NULL;
    need(graft_library_create(&library, &error), &error);
    if (plugins != NULL) {
        need(graft_library_load_plugins(library, &plugins, 1, NULL, &error), &error);
    }
    while (graft_json_next(graft_json_get(document, "cases"), &iterator, &name, &item)) {
        struct texts texts;
        if (!miniature_is_wanted(name, names, n)) {
            continue;
        }
        read_texts(&texts, graft_json_get(document, "texts"), graft_json_get(item, "token_type_ids"));
        char *directory = graft_path_join(cases, name);
        struct reader_case self = {
            .name = name, .directory = directory, .tolerance = miniature_tolerance(item), .texts = &texts};
        run_case(library, &self, plugins != NULL);
        graft_free(directory);
    }
    graft_library_free(library);
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    if (argc < 3) {
        (void)fputs("usage: test_readers CASES-FOLDER PLUGINS-FOLDER [NAME...]\n", stderr);
        return 2;
    }
    need(graft_json_read(folder_path(argv[1], "cases.json"), MAX_FILE_BYTES, &document, &error), &error);
    check(graft_json_size(graft_json_get(document, "cases")) > 0, "there are no cases");
    run_all(argv[1], document, NULL, argv + 3, argc - 3);
    run_all(argv[1], document, argv[2], argv + 3, argc - 3);
    graft_json_free(document);
    return check_failures() != 0;
}
