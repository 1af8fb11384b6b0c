/* SPDX-License-Identifier: Apache-2.0 */
/* test_saved CASE-DIRECTORY PLUGINS-DIRECTORY [needed]: a model that is saved, with replaced classes and without, has
 * the tensors it was read from. The runtime layout has the same logits, and can be saved back in the original
 * layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/folder.h"
#include "check.h"
#include "golden.h"
#include "graft/host/model.h"
#include "runner.h"

enum { SMALL_SHARD = 100000 };

static char folder[64];

/* Checks that every tensor of `a` is in `b`, bit by bit. */
static void check_contains(const struct graft_checkpoint *a, const struct graft_checkpoint *b, const char *what) {
    for (size_t i = 0; i < graft_checkpoint_count(a); i++) {
        const struct graft_tensor_view *left = graft_checkpoint_at(a, i);
        const struct graft_tensor_view *right = graft_checkpoint_find(b, left->name);
        check(right != NULL && right->dtype == left->dtype && right->rank == left->rank &&
                  memcmp(right->shape, left->shape, sizeof left->shape) == 0 &&
                  memcmp(right->data, left->data, (size_t)left->bytes) == 0,
              "%s: tensor %s differs", what, left->name);
    }
    const graft_json *metadata = graft_checkpoint_file_at(b, 0)->metadata;
    const char *format = graft_json_string(graft_json_get(metadata, "format"), NULL);
    check(format != NULL && strcmp(format, "pt") == 0, "%s: metadata is lost", what);
}

static void check_same(const char *original, const char *saved, const char *what) {
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *a = NULL, *b = NULL;
    need(graft_checkpoint_open(original, &a, &error), &error);
    need(graft_checkpoint_open(saved, &b, &error), &error);
    check(graft_checkpoint_count(a) == graft_checkpoint_count(b), "%s: %zu tensors, expected %zu", what,
          graft_checkpoint_count(b), graft_checkpoint_count(a));
    check_contains(a, b, what);
    graft_checkpoint_close(a);
    graft_checkpoint_close(b);
}

/* All bytes of a file; NULL: there is none. */
static unsigned char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    check(fseek(file, 0, SEEK_END) == 0, "%s: cannot be read", path);
    long size = ftell(file);
    unsigned char *bytes = need_memory((size_t)size + 1, 1);
    rewind(file);
    *length = fread(bytes, 1, (size_t)size, file);
    (void)fclose(file);
    return bytes;
}

/* A checkpoint of one file is saved as the same file, whatever types it has. */
static void check_file(const char *original, const char *saved, const char *what) {
    char path[2][512];
    size_t length[2] = {0};
    unsigned char *bytes[2] = {NULL};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/model.safetensors", i == 0 ? original : saved);
        bytes[i] = read_file(path[i], &length[i]);
    }
    if (bytes[0] != NULL) {
        check(bytes[1] != NULL && length[0] == length[1] && memcmp(bytes[0], bytes[1], length[0]) == 0,
              "%s: %s is another file than %s", what, path[1], path[0]);
    }
    free(bytes[0]);
    free(bytes[1]);
}

static const char *save(struct graft_model *model, const char *name, int runtime, int64_t shard) {
    struct graft_error error = graft_error_none();
    const struct graft_save_options options = {
        .struct_size = sizeof options, .runtime_layout = runtime, .max_shard_bytes = shard};
    const char *output = folder_path(folder, name);
    need(graft_model_save(model, output, &options, &error), &error);
    return output;
}

static void check_runtime(const struct golden *golden, struct runner *runner, const char *plugins) {
    struct runner again;
    const char *saved = save(runner->model, "runtime", 1, 0);
    runner_open(&again, saved, plugins, GRAFT_PRECISION_AUTO);
    check(again.model->plan->n_unexpected == 0, "runtime layout: %zu tensors unexpected",
          again.model->plan->n_unexpected);
    float *expected = runner_logits(runner, golden->ids, golden->n_ids);
    float *got = runner_logits(&again, golden->ids, golden->n_ids);
    double difference = max_difference(expected, got, golden->n_ids * runner->vocab_size);
    check(difference == 0.0, "runtime layout: logits differ by %g", difference);
    free(expected);
    free(got);
    const char *back = save(again.model, "back", 0, 0);
    check_same(golden->directory, back, "runtime layout and back");
    check_file(golden->directory, back, "runtime layout and back");
    check_same(saved, save(again.model, "runtime2", 1, SMALL_SHARD), "runtime layout saved again");
    runner_close(&again);
}

/* Compares names and shapes with those that the reference saved. */
static void check_listed(const graft_json *list, const char *directory, const char *what) {
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *saved = NULL;
    need(graft_checkpoint_open(directory, &saved, &error), &error);
    check(graft_json_size(list) == graft_checkpoint_count(saved), "%s: %zu tensors, the reference has %zu", what,
          graft_checkpoint_count(saved), graft_json_size(list));
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        const graft_json *shape = graft_json_get(item, "shape");
        const char *name = graft_json_string(graft_json_get(item, "name"), NULL);
        const struct graft_tensor_view *view = graft_checkpoint_find(saved, name);
        int same = view != NULL && (size_t)view->rank == graft_json_size(shape);
        for (int32_t j = 0; same && j < view->rank; j++) {
            same = view->shape[j] == graft_json_int(graft_json_at(shape, (size_t)j));
        }
        check(same, "%s: %s is not as the reference has it", what, name);
    }
    graft_checkpoint_close(saved);
}

static void check_reference(const struct golden *golden) {
    static const char *const keys[] = {"saved_default", "saved_runtime_layout"};
    static const char *const saved[] = {"original", "runtime"};
    for (size_t i = 0; i < 2; i++) {
        const graft_json *tensors = graft_json_get(graft_json_get(golden->document, keys[i]), "tensors");
        if (tensors != NULL) {
            check_listed(tensors, folder_path(folder, saved[i]), keys[i]);
        }
    }
}

static void check_saving(const struct golden *golden, const char *plugins) {
    struct runner runner;
    folder_create(folder);
    runner_open(&runner, golden->directory, plugins, GRAFT_PRECISION_AUTO);
    const char *original = save(runner.model, "original", 0, 0);
    check_same(golden->directory, original, "original layout");
    check_file(golden->directory, original, "original layout");
    check_same(golden->directory, save(runner.model, "shards", 0, SMALL_SHARD), "original layout, shards");
    check_runtime(golden, &runner, plugins);
    if (plugins != NULL) {
        check_reference(golden);
    }
    runner_close(&runner);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    struct golden golden;
    /* The family belongs to a plugin, or the weights are quantized. */
    const int needs_plugins = argc == 4 && strcmp(argv[3], "needed") == 0;
    if (argc != 3 && !needs_plugins) {
        (void)fputs("usage: test_saved CASE-DIRECTORY PLUGINS-DIRECTORY [needed]\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    if (!needs_plugins) {
        check_saving(&golden, NULL);
    }
    check_saving(&golden, argv[2]);
    golden_close(&golden);
    return check_failures() != 0;
}
