/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "check.h"

enum { MAX_JSON_BYTES = 1 << 24, MAX_KEY = 64 };

int32_t *golden_ids(const graft_json *document, const char *key, size_t *count) {
    const graft_json *array = graft_json_get(document, key);
    *count = graft_json_size(array);
    int32_t *ids = need_memory(*count, sizeof *ids);
    for (size_t i = 0; i < *count; i++) {
        ids[i] = (int32_t)graft_json_int(graft_json_at(array, i));
    }
    return ids;
}

void golden_open(struct golden *golden, const char *directory) {
    struct graft_error error = graft_error_none();
    char *json = graft_path_join(directory, "golden.json");
    char *tensors = graft_path_join(directory, "golden.safetensors");
    *golden = (struct golden){.directory = directory};
    need(graft_json_read(json, MAX_JSON_BYTES, &golden->document, &error), &error);
    if (graft_file_exists(tensors)) {
        need(graft_safetensors_open(tensors, &golden->tensors, &error), &error);
    }
    golden->ids = golden_ids(golden->document, "input_ids", &golden->n_ids);
    golden->greedy_ids = golden_ids(golden->document, "greedy_ids", &golden->n_greedy);
    check(golden->n_ids > 0, "%s: no input_ids", json);
    graft_free(json);
    graft_free(tensors);
}

void golden_close(struct golden *golden) {
    graft_safetensors_close(golden->tensors);
    graft_json_free(golden->document);
    free(golden->ids);
    free(golden->greedy_ids);
}

const float *golden_tensor(const struct golden *golden, const char *name, size_t rows, size_t columns) {
    const struct graft_tensor_view *tensor = graft_safetensors_find(golden->tensors, name);
    if (tensor == NULL || tensor->dtype != GRAFT_DTYPE_F32 || tensor->bytes != (int64_t)(rows * columns * 4) ||
        tensor->shape[tensor->rank - 1] != (int64_t)columns || (uintptr_t)tensor->data % sizeof(float) != 0) {
        (void)fprintf(stderr, "FAIL: golden.safetensors has no %s of %zu x %zu\n", name, rows, columns);
        exit(1);
    }
    return tensor->data;
}

double golden_spread(const struct golden *golden, const char *dtype) {
    char key[MAX_KEY];
    (void)snprintf(key, sizeof key, "%s_rms_vs_fp32", dtype);
    const graft_json *spread = graft_json_get(graft_json_get(golden->document, "reference_spread"), key);
    return graft_json_type(spread) == GRAFT_JSON_REAL ? graft_json_real(spread) : -1.0;
}

double golden_f64_difference(const struct golden *golden) {
    const graft_json *spread = graft_json_get(golden->document, "reference_spread");
    const graft_json *difference = graft_json_get(spread, "fp32_vs_fp64");
    return graft_json_type(difference) == GRAFT_JSON_REAL ? graft_json_real(difference) : 0.0;
}

double golden_cache_difference(const struct golden *golden) {
    return graft_json_real(graft_json_get(golden->document, "cache_vs_no_cache_max_abs"));
}
