/* SPDX-License-Identifier: Apache-2.0 */
/* test_encoder CASE-DIRECTORY [PLUGINS]: compares a model that reads whole texts with the reference: each text alone
 * and all as one ragged batch, in every build of the kernels, with several numbers of threads; pooled vectors; saving
 * under the original names, bit by bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "check.h"
#include "compare.h"
#include "graft/host/model.h"
#include "kernels/cpu.h"
#include "kernels/threads.h"

enum { MAX_TEXTS = 8, MAX_TOKENS = 32 };

/* The texts of a case. */
struct texts {
    int32_t ids[MAX_TEXTS][MAX_TOKENS];
    int32_t types[MAX_TEXTS][MAX_TOKENS];
    struct graft_encoder_prompt prompts[MAX_TEXTS];
    size_t n;
};

static size_t read_row(const graft_json *rows, size_t i, int32_t *numbers) {
    const graft_json *row = graft_json_at(rows, i);
    size_t n = graft_json_size(row);
    check(n <= MAX_TOKENS, "text %zu is too long for this test", i);
    for (size_t j = 0; j < n && j < MAX_TOKENS; j++) {
        numbers[j] = (int32_t)graft_json_int(graft_json_at(row, j));
    }
    return n;
}

static void texts_read(struct texts *texts, const struct golden *golden, const char *key) {
    const graft_json *rows = graft_json_get(golden->document, key);
    const graft_json *types = graft_json_get(golden->document, "token_type_ids");
    int typed = strcmp(key, "prompts") == 0;
    memset(texts, 0, sizeof *texts);
    texts->n = graft_json_size(rows);
    check(texts->n > 0 && texts->n <= MAX_TEXTS, "%zu texts", texts->n);
    for (size_t i = 0; i < texts->n; i++) {
        size_t count = read_row(rows, i, texts->ids[i]);
        if (typed) {
            (void)read_row(types, i, texts->types[i]);
        }
        texts->prompts[i] = (struct graft_encoder_prompt){.struct_size = sizeof texts->prompts[i],
                                                          .ids = texts->ids[i],
                                                          .token_type_ids = typed ? texts->types[i] : NULL,
                                                          .count = count};
    }
}

/* The output of a run, all texts one after the other. */
struct given {
    float *hidden;
    float *pooled;
    float *logits;
};

static void given_free(struct given *given) {
    free(given->hidden);
    free(given->pooled);
    free(given->logits);
}

static size_t count_tokens(const struct graft_encoder_prompt *prompts, size_t n) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        tokens += prompts[i].count;
    }
    return tokens;
}

static struct given encode(const struct runner *runner, const struct graft_encoder_prompt *prompts, size_t n) {
    struct graft_error error = graft_error_none();
    struct graft_encoder_info info = {.struct_size = sizeof info};
    int32_t rows[MAX_TEXTS * MAX_TOKENS];
    size_t tokens = count_tokens(prompts, n);
    int32_t task = graft_model_task(runner->model);
    graft_model_encoder_info(runner->model, &info);
    for (size_t i = 0; i < tokens; i++) {
        rows[i] = (int32_t)i;
    }
    size_t columns = task == GRAFT_TASK_MASKED_LM ? runner->vocab_size : (size_t)info.n_labels;
    struct given given = {
        need_memory(tokens * (size_t)info.hidden_size, sizeof(float)),
        info.has_pooler ? need_memory(n * (size_t)info.hidden_size, sizeof(float)) : NULL,
        columns > 0 ? need_memory(tokens * columns, sizeof(float)) : NULL,
    };
    const struct graft_encoder_outputs outputs = {
        .struct_size = sizeof outputs,
        .last_hidden_state = given.hidden,
        .pooler_output = given.pooled,
        .logits = given.logits,
        .rows = rows,
        .n_rows = (int64_t)tokens,
    };
    need(graft_model_encode(runner->model, prompts, n, &outputs, &error), &error);
    return given;
}

static void compare_one(const struct golden *golden, const char *name, size_t text, const float *got, size_t rows,
                        size_t columns, const char *what) {
    char key[64];
    (void)snprintf(key, sizeof key, "%s.%zu", name, text);
    const float *expected = golden_tensor(golden, key, rows, columns);
    double difference = max_difference(got, expected, rows * columns);
    check(difference <= compare_tolerance(golden), "%s: %s differs by %g", what, key, difference);
}

/* Runs texts `first` to `first + n` together, and compares them with the reference. */
static void compare(const struct golden *golden, const struct runner *runner, const struct texts *texts, size_t first,
                    size_t n, const char *what) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    struct given given = encode(runner, texts->prompts + first, n);
    int32_t task = graft_model_task(runner->model);
    int masked = task == GRAFT_TASK_MASKED_LM;
    const float *hidden = given.hidden, *pooled = given.pooled, *logits = given.logits;
    graft_model_encoder_info(runner->model, &info);
    size_t width = (size_t)info.hidden_size;
    for (size_t i = first; i < first + n; i++) {
        size_t tokens = texts->prompts[i].count;
        size_t rows = task == GRAFT_TASK_SEQUENCE_CLASSIFICATION ? 1 : tokens;
        size_t columns = masked ? runner->vocab_size : (size_t)info.n_labels;
        compare_one(golden, "last_hidden_state", i, hidden, tokens, width, what);
        hidden += tokens * width;
        if (pooled != NULL) {
            compare_one(golden, "pooler_output", i, pooled, 1, width, what);
            pooled += width;
        }
        if (logits != NULL) {
            compare_one(golden, "logits", i, logits, rows, columns, what);
            logits += rows * columns;
        }
    }
    given_free(&given);
}

static void check_texts(const struct golden *golden, const struct runner *runner) {
    struct texts texts;
    int used = graft_cpu_isa();
    texts_read(&texts, golden, "prompts");
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        compare(golden, runner, &texts, 0, texts.n, graft_cpu_isa_name(isa));
    }
    graft_cpu_set_isa(used);
    for (size_t i = 0; i < texts.n; i++) {
        compare(golden, runner, &texts, i, 1, "alone");
    }
}

/* In f32 the number of threads changes no bit. */
static void check_threads(const struct golden *golden, const struct runner *runner) {
    struct texts texts;
    struct graft_encoder_info info = {.struct_size = sizeof info};
    texts_read(&texts, golden, "prompts");
    graft_model_encoder_info(runner->model, &info);
    size_t bytes = count_tokens(texts.prompts, texts.n) * (size_t)info.hidden_size * sizeof(float);
    graft_threads_set_count(1);
    struct given one = encode(runner, texts.prompts, texts.n);
    for (int32_t count = 2; count <= 3; count++) {
        graft_threads_set_count(count);
        struct given several = encode(runner, texts.prompts, texts.n);
        check(memcmp(one.hidden, several.hidden, bytes) == 0, "%d threads: other numbers than with one", (int)count);
        given_free(&several);
    }
    graft_threads_set_count(0);
    given_free(&one);
}

/* Compares vectors that the files of sentence-transformers define. */
static void check_vectors(const struct golden *golden, const struct runner *runner) {
    struct texts texts;
    struct graft_error error = graft_error_none();
    struct graft_embedding_info embedding = {.struct_size = sizeof embedding};
    int has_files = graft_json_get(golden->document, "text_ids") != NULL;
    if (!has_files && graft_tree_number(runner->model->tree, "token_types", 0) == 0) {
        check(graft_model_embedding(runner->model, &embedding, &error) == GRAFT_ERROR_MODEL,
              "a decoder has vectors without files that say how");
        return;
    }
    need(graft_model_embedding(runner->model, &embedding, &error), &error);
    if (!has_files) {
        check(embedding.max_tokens == 0, "a length is said without files");
        return;
    }
    texts_read(&texts, golden, "text_ids");
    size_t size = (size_t)embedding.size;
    float *vectors = need_memory(texts.n * size, sizeof *vectors);
    need(graft_model_embed(runner->model, texts.prompts, texts.n, vectors, &error), &error);
    for (size_t i = 0; i < texts.n; i++) {
        compare_one(golden, "vector", i, vectors + i * size, 1, size, "vectors");
    }
    free(vectors);
}

/* Checks that `a` and `b` have the same tensors, bit by bit. */
static void check_same(const char *a, const char *b) {
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *original = NULL, *saved = NULL;
    need(graft_checkpoint_open(a, &original, &error), &error);
    need(graft_checkpoint_open(b, &saved, &error), &error);
    check(graft_checkpoint_count(original) == graft_checkpoint_count(saved), "saved: another number of tensors");
    for (size_t i = 0; i < graft_checkpoint_count(original); i++) {
        const struct graft_tensor_view *left = graft_checkpoint_at(original, i);
        const struct graft_tensor_view *right = graft_checkpoint_find(saved, left->name);
        check(right != NULL && right->dtype == left->dtype && right->bytes == left->bytes &&
                  memcmp(right->shape, left->shape, sizeof left->shape) == 0 &&
                  memcmp(right->data, left->data, (size_t)left->bytes) == 0,
              "saved: tensor %s differs", left->name);
    }
    graft_checkpoint_close(original);
    graft_checkpoint_close(saved);
}

/* In the runtime layout, tensors have the names of parameters. Opened and saved again in the original layout, the
 * checkpoint equals the first one. */
static void check_saved(const struct golden *golden, const struct runner *runner, const char *plugins) {
    char folder[64];
    struct graft_error error = graft_error_none();
    struct runner again;
    const struct graft_save_options runtime = {.struct_size = sizeof runtime, .runtime_layout = 1};
    folder_create(folder);
    need(graft_model_save(runner->model, folder_path(folder, "original"), NULL, &error), &error);
    check_same(golden->directory, folder_path(folder, "original"));
    need(graft_model_save(runner->model, folder_path(folder, "runtime"), &runtime, &error), &error);
    runner_open(&again, folder_path(folder, "runtime"), plugins, GRAFT_PRECISION_FLOAT32);
    check_texts(golden, &again);
    need(graft_model_save(again.model, folder_path(folder, "back"), NULL, &error), &error);
    check_same(golden->directory, folder_path(folder, "back"));
    runner_close(&again);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    struct golden golden;
    struct runner runner;
    if (argc != 2 && argc != 3) {
        (void)fputs("usage: test_encoder CASE-DIRECTORY [PLUGINS]\n", stderr);
        return 2;
    }
    const char *plugins = argc == 3 ? argv[2] : NULL;
    golden_open(&golden, argv[1]);
    runner_open(&runner, argv[1], plugins, GRAFT_PRECISION_FLOAT32);
    compare_structure(&golden, &runner);
    check(runner.model->plan->n_unexpected == 0, "%zu tensors unexpected", runner.model->plan->n_unexpected);
    check(graft_json_bool(graft_json_get(golden.document, "copies")) || runner.model->plan->copied_bytes == 0,
          "%lld bytes copied", (long long)runner.model->plan->copied_bytes);
    check_texts(&golden, &runner);
    check_threads(&golden, &runner);
    check_vectors(&golden, &runner);
    check_saved(&golden, &runner, plugins);
    runner_close(&runner);
    golden_close(&golden);
    return check_failures() != 0;
}
