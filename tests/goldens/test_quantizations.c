/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantizations CASES.JSON CASE MODELS PLUGINS-DIRECTORIES DEMO: a model opened with `quantize` has the codes and
 * scales of the method's own quantizer, bit for bit; saved, it is a checkpoint of the method with the same logits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/sha256.h"
#include "base/text.h"
#include "check.h"
#include "graft/host/model.h"
#include "runner.h"

enum { TOKENS = 20, FIRST_PLACE = 3 };

/* Hashes a tensor as make_quantization_goldens.py does. */
static void add_tensor(struct graft_sha256 *hash, const struct graft_tensor_view *tensor) {
    struct graft_text text = {0};
    graft_text_printf(&text, "%s %s [", tensor->name, graft_stored_dtype_name(tensor->dtype));
    for (int32_t i = 0; i < tensor->rank; i++) {
        graft_text_printf(&text, "%s%lld", i > 0 ? ", " : "", (long long)tensor->shape[i]);
    }
    graft_text_printf(&text, "]\n");
    graft_sha256_add(hash, text.bytes, text.length);
    graft_sha256_add(hash, tensor->data, (size_t)tensor->bytes);
    graft_text_free(&text);
}

static void compare_tensors(const graft_json *golden, const struct graft_checkpoint *checkpoint) {
    struct graft_sha256 hash;
    char digits[GRAFT_SHA256_DIGITS + 1];
    int64_t n = 0;
    graft_sha256_start(&hash);
    for (size_t i = 0; i < graft_checkpoint_count(checkpoint); i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_at(checkpoint, i);
        if (tensor->is_made) {
            add_tensor(&hash, tensor);
            n++;
        }
    }
    graft_sha256_end(&hash, digits);
    check(n == graft_json_int(graft_json_get(golden, "tensors")), "%lld tensors are made", (long long)n);
    check(strcmp(digits, graft_json_string(graft_json_get(golden, "sha256"), NULL)) == 0,
          "other codes or scales than the reference's: %s", digits);
}

static float *logits_of(const struct runner *runner) {
    int32_t ids[TOKENS];
    for (int32_t i = 0; i < TOKENS; i++) {
        ids[i] = 1 + i % 16;
    }
    return runner_logits(runner, ids, TOKENS);
}

static void compare_saved(const struct runner *quantized, const char *folder, const char *plugins) {
    struct graft_error error = graft_error_none();
    struct runner saved;
    const char *output = folder_path(folder, "quantized");
    need(graft_model_save(quantized->model, output, NULL, &error), &error);
    runner_open(&saved, output, plugins, GRAFT_PRECISION_AUTO);
    check(saved.model->plan->n_unexpected == 0, "%zu tensors unexpected", saved.model->plan->n_unexpected);
    float *expected = logits_of(quantized), *got = logits_of(&saved);
    const double difference = max_difference(expected, got, TOKENS * quantized->vocab_size);
    check(difference == 0.0, "saved: logits differ by %g", difference);
    free(expected);
    free(got);
    runner_close(&saved);
}

/* Finds the model of a case; a quantized one is first converted to floats, in a folder. */
static const char *model_of(const char *name, char *const *places, const char *folder) {
    struct graft_error error = graft_error_none();
    struct runner floats;
    const struct graft_model_options options = {.struct_size = sizeof options, .dequantize = 1};
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", places[0], name);
    if (strcmp(name, "demo") == 0) {
        return places[2];
    }
    if (strncmp(name, "quantized/", strlen("quantized/")) != 0) {
        return path;
    }
    runner_open_with(&floats, path, places[1], &options);
    const char *output = folder_path(folder, "floats");
    need(graft_model_save(floats.model, output, NULL, &error), &error);
    runner_close(&floats);
    return output;
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    graft_json *cases = NULL;
    struct runner quantized;
    char folder[64];
    if (argc != 6) {
        (void)fputs("usage: test_quantizations CASES CASE MODELS PLUGINS-DIRECTORIES DEMO\n", stderr);
        return 2;
    }
    need(graft_json_read(argv[1], 1 << 20, &cases, &error), &error);
    const graft_json *golden = graft_json_get(cases, argv[2]);
    char *const *places = argv + FIRST_PLACE;
    folder_create(folder);
    const struct graft_model_options options = {
        .struct_size = sizeof options, .quantize = graft_json_string(graft_json_get(golden, "quantize"), NULL)};
    const char *model = model_of(graft_json_string(graft_json_get(golden, "model"), NULL), places, folder);
    runner_open_with(&quantized, model, places[1], &options);
    compare_tensors(golden, quantized.model->checkpoint);
    compare_saved(&quantized, folder, places[1]);
    runner_close(&quantized);
    folder_remove(folder);
    graft_json_free(cases);
    return check_failures() != 0;
}
