/* SPDX-License-Identifier: Apache-2.0 */
/* test_dequantized CASE-DIRECTORY PLUGINS-DIRECTORY: a quantized checkpoint opened with `dequantize` has the numbers
 * that its codes represent, rounded once to its config's type. Saved, it is a checkpoint of floats with the same logits
 * that needs no plugin for the method. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/sha256.h"
#include "check.h"
#include "golden.h"
#include "graft/convert.h"
#include "graft/host/model.h"
#include "kernels/coded/rows.h"
#include "model/coded.h"
#include "plugin/host_services.h"
#include "runner.h"

/* Hashes numbers as they are, or with unsigned zeros, as the goldens of some methods have them. */
static int has_digest(float *numbers, int64_t n, const char *digest) {
    char hex[GRAFT_SHA256_DIGITS + 1];
    graft_sha256_of(numbers, (size_t)n * sizeof *numbers, hex);
    if (strcmp(hex, digest) == 0) {
        return 1;
    }
    for (int64_t i = 0; i < n; i++) {
        numbers[i] += 0.0F;
    }
    graft_sha256_of(numbers, (size_t)n * sizeof *numbers, hex);
    return strcmp(hex, digest) == 0;
}

static int is_rounded(const struct graft_tensor_view *tensor, const float *exact, int64_t n) {
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++) {
        float rounded = 0.0F;
        graft_set_f32_at(&rounded, tensor->dtype, 0, exact[i]);
        same += graft_f32_at(tensor->data, tensor->dtype, i) == graft_f32_at(&rounded, tensor->dtype, 0);
    }
    return same == n;
}

/* The numbers that a module's codes represent; NULL: it has no codes. */
static float *exact_weights(const struct graft_model *quantized, const char *name) {
    char path[256];
    (void)snprintf(path, sizeof path, "%.*s", (int)(strlen(name) - strlen(".weight")), name);
    struct graft_node *node = graft_node_find(quantized->tree->root, path);
    if (node == NULL || node->n_coded == 0) {
        return NULL;
    }
    if (graft_node_coded(node, "weight") == NULL) { /* its class has loops of its own */
        struct graft_error error = graft_error_none();
        const struct graft_build build = graft_node_build(node, quantized->tree, graft_host_get());
        need(graft_node_make_coded(node, &build, 1, &error), &error);
    }
    const struct graft_weight *weight = graft_node_coded(node, "weight");
    float *exact = need_memory((size_t)(weight->rows * weight->columns), sizeof *exact);
    weight->codec->read_rows(weight, 0, weight->rows, exact);
    return exact;
}

/* Whether the checkpoint has a weight of the golden under its name; some architectures name weights differently
 * there. */
static int compare_weight(const graft_json *expected, const struct graft_model *quantized,
                          const struct graft_model *floats) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    const char *digest = graft_json_string(graft_json_get(expected, "sha256"), NULL);
    const struct graft_tensor_view *tensor = graft_checkpoint_find(floats->checkpoint, name);
    float *exact = exact_weights(quantized, name);
    if (tensor != NULL) {
        const int64_t n = tensor->bytes / 2;
        float *widened = need_memory((size_t)n, sizeof *widened);
        check(tensor->dtype == GRAFT_DTYPE_BF16 || tensor->dtype == GRAFT_DTYPE_F16, "%s: no float of 16 bits", name);
        for (int64_t i = 0; i < n; i++) {
            widened[i] = graft_f32_at(tensor->data, tensor->dtype, i);
        }
        check(has_digest(widened, n, digest) ||
                  (exact != NULL && has_digest(exact, n, digest) && is_rounded(tensor, exact, n)),
              "%s: other numbers than its codes stand for", name);
        free(widened);
    }
    free(exact);
    return tensor != NULL;
}

static void compare_saved(const struct golden *golden, const struct runner *floats, const char *families) {
    struct runner saved;
    struct graft_error error = graft_error_none();
    const struct graft_model_options plain = {
        .struct_size = sizeof plain, .precision = GRAFT_PRECISION_FLOAT32, .without_replacements = 1};
    char folder[64];
    folder_create(folder);
    const char *output = folder_path(folder, "floats");
    need(graft_model_save(floats->model, output, NULL, &error), &error);
    runner_open_with(&saved, output, families, &plain);
    check(saved.model->plan->n_unexpected == 0, "%zu tensors unexpected", saved.model->plan->n_unexpected);
    float *expected = runner_logits(floats, golden->ids, golden->n_ids);
    float *got = runner_logits(&saved, golden->ids, golden->n_ids);
    const double difference = max_difference(expected, got, golden->n_ids * floats->vocab_size);
    check(difference == 0.0, "saved as floats: logits differ by %g", difference);
    free(expected);
    free(got);
    runner_close(&saved);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    struct golden golden;
    struct runner quantized, floats;
    struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .without_replacements = 1};
    int found = 0;
    if (argc != 3 && argc != 4) {
        (void)fputs("usage: test_dequantized CASE-DIRECTORY PLUGINS-DIRECTORIES [OF-FAMILIES]\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    runner_open_with(&quantized, argv[1], argv[2], &options);
    options.dequantize = 1;
    runner_open_with(&floats, argv[1], argv[2], &options);
    const graft_json *weights = graft_json_get(golden.document, "quantized_weights");
    for (size_t i = 0; i < graft_json_size(weights); i++) {
        found += compare_weight(graft_json_at(weights, i), quantized.model, floats.model);
    }
    check(found > 0 || graft_json_size(weights) == 0, "no weight has the name that it has in the golden");
    compare_saved(&golden, &floats, argc == 4 ? argv[3] : NULL);
    runner_close(&quantized);
    runner_close(&floats);
    golden_close(&golden);
    return check_failures() != 0;
}
