/* SPDX-License-Identifier: Apache-2.0 */
/* test_variants VARIANTS-FOLDER CASES-FOLDER FAMILIES-FOLDER: the cases of other tests with a few fields of config.json
 * changed, compared with the reference: single prompts, several in one batch, prompts longer than a portion; generation
 * alone, beside another sequence, and with guessed tokens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/file.h"
#include "check.h"
#include "compare.h"
#include "kernels/cpu.h"

enum { MAX_PATH = 1024, MAX_FILE_BYTES = 1 << 20, LONG = 600, LONG_ROWS = 3, SEQUENCES = 3 };

struct variant {
    const char *name;
    const graft_json *document;
    struct golden golden; /* of `document` and the file of all */
};

/* --- The model's directory: the files of the base case, and its config.json with the changes --- */

static void base_path(const char *base, const char *cases, const char *families, char path[MAX_PATH]) {
    const char *slash = strchr(base, '/');
    if (slash != NULL) {
        (void)snprintf(path, MAX_PATH, "%s/%.*s/goldens/%s", families, (int)(slash - base), base, slash + 1);
    } else {
        (void)snprintf(path, MAX_PATH, "%s/plain/%s", cases, base);
    }
}

static void copy_file(const char *from, const char *folder, const char *name) {
    struct graft_error error = graft_error_none();
    char *path = graft_path_join(from, name);
    char *bytes = NULL;
    size_t length = 0;
    need(graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_IO, &bytes, &length, &error), &error);
    folder_put(folder, name, bytes, length);
    graft_free(bytes);
    graft_free(path);
}

static void copy_weights(const char *from, const char *folder) {
    DIR *stream = opendir(from);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        if (strncmp(entry->d_name, "model", 5) == 0) {
            copy_file(from, folder, entry->d_name);
        }
    }
    check(stream != NULL && closedir(stream) == 0, "%s cannot be read", from);
}

static void add(graft_json *object, const char *key, const graft_json *value) {
    struct graft_error error = graft_error_none();
    char *text = graft_json_dump(value, 0);
    graft_json *copy = NULL;
    need(graft_json_parse(text, strlen(text), key, &copy, &error), &error);
    check(graft_json_set_take(object, key, copy) == 0, "memory");
    graft_free(text);
}

static void write_config(const char *from, const graft_json *changes, const char *folder) {
    struct graft_error error = graft_error_none();
    char *path = graft_path_join(from, "config.json");
    graft_json *config = NULL;
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    need(graft_json_read(path, MAX_FILE_BYTES, &config, &error), &error);
    while (graft_json_next(changes, &iterator, &key, &value)) {
        add(config, key, value);
    }
    char *text = graft_json_dump(config, 1);
    folder_put(folder, "config.json", text, strlen(text));
    graft_free(text);
    graft_json_free(config);
    graft_free(path);
}

/* --- Comparisons --- */

static void compare_batch(const struct variant *variant, const struct runner *runner) {
    const struct golden *golden = &variant->golden;
    const size_t lengths[] = {golden->n_ids, golden->n_ids / 2, golden->n_ids};
    struct graft_prompt prompts[SEQUENCES];
    struct graft_error error = graft_error_none();
    size_t tokens = 0;
    for (size_t i = 0; i < SEQUENCES; i++) {
        prompts[i] =
            (struct graft_prompt){.struct_size = sizeof(struct graft_prompt), .ids = golden->ids, .count = lengths[i]};
        tokens += lengths[i];
    }
    float *together = need_memory(tokens * runner->vocab_size, sizeof *together);
    need(graft_model_logits(runner->model, prompts, SEQUENCES, together, &error), &error);
    float *half = runner_logits(runner, golden->ids, lengths[1]);
    double difference =
        max_difference(together + lengths[0] * runner->vocab_size, half, lengths[1] * runner->vocab_size);
    check(difference <= F32_TOLERANCE, "%s: half of the prompt differs by %g between others", variant->name,
          difference);
    free(half);
    free(together);
}

static void compare_long(const struct variant *variant, const struct runner *runner) {
    char name[128];
    int32_t ids[LONG];
    (void)snprintf(name, sizeof name, "%s.long", variant->name);
    if (graft_safetensors_find(variant->golden.tensors, name) == NULL) {
        return;
    }
    const float *expected = golden_tensor(&variant->golden, name, LONG_ROWS, runner->vocab_size);
    for (size_t i = 0; i < LONG; i++) {
        ids[i] = variant->golden.ids[i % variant->golden.n_ids];
    }
    float *logits = runner_logits(runner, ids, LONG);
    const size_t rows[LONG_ROWS] = {0, LONG / 2, LONG - 1};
    for (size_t i = 0; i < LONG_ROWS; i++) {
        double difference = max_difference(logits + rows[i] * runner->vocab_size, expected + i * runner->vocab_size,
                                           runner->vocab_size);
        check(difference <= F32_TOLERANCE, "%s: token %zu of a long prompt differs by %g", variant->name, rows[i],
              difference);
    }
    free(logits);
}

/* Collects the ids of each sequence as they are generated. */
struct collected {
    int32_t ids[SEQUENCES][LONG];
    size_t n[SEQUENCES];
};

static int gather(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct collected *gathered = data;
    (void)last;
    (void)error;
    gathered->ids[sequence][gathered->n[sequence]++] = id;
    return GRAFT_OK;
}

static void compare_generated(const struct variant *variant, const struct runner *runner, int32_t speculate) {
    const struct golden *golden = &variant->golden;
    const struct graft_prompt prompts[] = {
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = golden->n_ids},
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = golden->n_ids / 4},
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = golden->n_ids}};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_error error = graft_error_none();
    struct collected gathered = {.n = {0}};
    graft_model_generation(runner->model, &generation);
    generation.do_sample = 0;
    generation.ignore_eos = 1;
    generation.max_new_tokens = (int64_t)golden->n_greedy;
    generation.speculate = speculate;
    need(graft_model_generate(runner->model, prompts, SEQUENCES, &generation, gather, &gathered, &error), &error);
    for (size_t i = 0; i < SEQUENCES; i += 2) {
        check(gathered.n[i] == golden->n_greedy &&
                  memcmp(gathered.ids[i], golden->greedy_ids, golden->n_greedy * sizeof(int32_t)) == 0,
              "%s: sequence %zu: other ids with %d guesses", variant->name, i, (int)speculate);
    }
}

static void check_variant(const struct variant *variant, const char *from, const char *plugins) {
    char folder[64], name[128];
    struct runner runner;
    int used = graft_cpu_isa();
    folder_create(folder);
    copy_weights(from, folder);
    write_config(from, graft_json_get(variant->document, "changes"), folder);
    runner_open(&runner, folder, plugins, GRAFT_PRECISION_FLOAT32);
    (void)snprintf(name, sizeof name, "%s.logits", variant->name);
    const size_t n = variant->golden.n_ids;
    const float *expected = golden_tensor(&variant->golden, name, n, runner.vocab_size);
    const int isas[] = {GRAFT_ISA_SCALAR, used};
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        graft_cpu_set_isa(isas[i]);
        float *logits = runner_logits(&runner, variant->golden.ids, n);
        double difference = max_difference(logits, expected, n * runner.vocab_size);
        check(difference <= F32_TOLERANCE, "%s: %s: logits differ by %g", variant->name, graft_cpu_isa_name(isas[i]),
              difference);
        free(logits);
    }
    compare_batch(variant, &runner);
    compare_long(variant, &runner);
    compare_generated(variant, &runner, 0);
    compare_generated(variant, &runner, 4);
    runner_close(&runner);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    graft_json *documents = NULL;
    struct graft_safetensors *tensors = NULL;
    void *iterator = NULL;
    const char *key;
    const graft_json *document;
    if (argc != 4) {
        (void)fputs("usage: test_variants VARIANTS-FOLDER CASES-FOLDER FAMILIES-FOLDER\n", stderr);
        return 2;
    }
    char *json = graft_path_join(argv[1], "variants.json");
    char *file = graft_path_join(argv[1], "variants.safetensors");
    need(graft_json_read(json, MAX_FILE_BYTES, &documents, &error), &error);
    need(graft_safetensors_open(file, &tensors, &error), &error);
    check(graft_json_size(documents) > 0, "there are no variants");
    while (graft_json_next(documents, &iterator, &key, &document)) {
        char from[MAX_PATH];
        struct variant variant = {key, document, {.tensors = tensors}};
        variant.golden.ids = golden_ids(document, "input_ids", &variant.golden.n_ids);
        variant.golden.greedy_ids = golden_ids(document, "greedy_ids", &variant.golden.n_greedy);
        base_path(graft_json_string(graft_json_get(document, "base"), NULL), argv[2], argv[3], from);
        check_variant(&variant, from, argv[3]);
        free(variant.golden.ids);
        free(variant.golden.greedy_ids);
    }
    graft_safetensors_close(tensors);
    graft_json_free(documents);
    graft_free(file);
    graft_free(json);
    return check_failures() != 0;
}
