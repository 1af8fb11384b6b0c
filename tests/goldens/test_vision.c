/* SPDX-License-Identifier: Apache-2.0 */
/* test_vision CASE-DIRECTORY [PLUGINS-DIRECTORY [FUSION-CONFIG]]: compares a model with images and videos with the
 * reference: logits, greedy ids, outputs of each part of the tower; and with itself when it is called in other ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"
#include "golden.h"
#include "graft/host/image.h"
#include "hooks/forward_hooks.h"
#include "kernels/threads.h"
#include "runner.h"

enum { MAX_IMAGES = 8, MAX_NAME = 64 };

/* The case's images and videos in the order of their tokens, as pointers into its pixel values. */
struct images {
    struct graft_image items[MAX_IMAGES];
    size_t n;
};

/* Adds image or video number `i` of its kind, whose patches start at `*row`. */
static void add_image(const struct golden *golden, struct images *images, int is_video, size_t i, int64_t *row) {
    const graft_json *grids = graft_json_get(golden->document, is_video ? "video_grid_thw" : "image_grid_thw");
    const struct graft_tensor_view *pixels =
        graft_safetensors_find(golden->tensors, is_video ? "pixel_values_videos" : "pixel_values");
    check(i < graft_json_size(grids) && images->n < MAX_IMAGES && pixels != NULL, "more places than images");
    struct graft_image *image = &images->items[images->n++];
    *image = (struct graft_image){.struct_size = sizeof *image, .is_video = is_video, .patch_dim = pixels->shape[1]};
    image->pixel_values = (const float *)pixels->data + *row * image->patch_dim;
    for (size_t k = 0; k < 3; k++) {
        image->grid[k] = graft_json_int(graft_json_at(graft_json_at(grids, i), k));
    }
    const graft_json *seconds = graft_json_get(golden->document, "second_per_grid_ts");
    image->seconds = is_video && seconds != NULL ? graft_json_real(graft_json_at(seconds, i)) : 0.0;
    *row += image->grid[0] * image->grid[1] * image->grid[2];
    check(*row <= pixels->shape[0], "pixel values have fewer patches than their grids");
}

/* 1 if token number `at` stands for an image, 2 for a video, else 0. */
static int64_t type_at(const struct golden *golden, size_t at) {
    enum { IMAGE = 60, VIDEO = 63 };
    const graft_json *types = graft_json_get(golden->document, "token_types");
    const int32_t id = golden->ids[at];
    return types != NULL ? graft_json_int(graft_json_at(types, at)) : (id == IMAGE) + 2 * (id == VIDEO);
}

/* Pairs runs of image and video tokens with images and videos. Each run is one, except in models where a video has a
 * run for each patch along time. */
static void read_images(const struct golden *golden, int by_frame, struct images *images) {
    int64_t frames = 0; /* of the last video: those without a run so far */
    size_t n[2] = {0, 0};
    int64_t rows[2] = {0, 0};
    *images = (struct images){0};
    for (size_t at = 0; at < golden->n_ids; at++) {
        const int64_t type = type_at(golden, at);
        if (type == 0 || (at > 0 && type_at(golden, at - 1) == type) || (type == 2 && frames-- > 0)) {
            continue;
        }
        add_image(golden, images, type == 2, n[type == 2], &rows[type == 2]);
        n[type == 2]++;
        frames = by_frame && type == 2 ? images->items[images->n - 1].grid[0] - 1 : 0;
    }
    check(n[0] + n[1] > 0 && n[0] == graft_json_size(graft_json_get(golden->document, "image_grid_thw")) &&
              n[1] == graft_json_size(graft_json_get(golden->document, "video_grid_thw")),
          "other images than places");
}

/* Compares the outputs of the tower's parts, image by image; the reference has one tensor for all images. */
struct recording {
    const struct golden *golden;
    int64_t rows[MAX_NAME]; /* number of rows seen so far, of each tensor in the file */
};

/* The file's name for a module: "model.visual.blocks.0" and "model.vision_tower.encoder.layers.0" are "vision.block.0"
 * there. */
static int tensor_name(const struct graft_node *node, char name[MAX_NAME]) {
    static const char *const parts[][2] = {
        {"patch_embed", "patch_embed"},   {"merger", "merger"},
        {"blocks.%d%n", "block"},         {"embeddings", "patch_embed"},
        {"encoder.layers.%d%n", "block"}, {"deepstack_merger_list.%d%n", "deepstack"}};
    static const char *const towers[] = {"model.visual.", "model.vision_tower."};
    const char *tower = towers[strncmp(node->path, towers[0], strlen(towers[0])) != 0];
    const char *path = node->path + strlen(tower);
    if (strcmp(node->path, "model.multi_modal_projector") == 0) {
        return snprintf(name, MAX_NAME, "vision.merger") > 0;
    }
    if (strncmp(node->path, tower, strlen(tower)) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int n = -1, length = 0;
        if (strcmp(path, parts[i][0]) == 0) {
            return snprintf(name, MAX_NAME, "vision.%s", parts[i][1]) > 0;
        }
        if (sscanf(path, parts[i][0], &n, &length) == 1 && path[length] == '\0') {
            return snprintf(name, MAX_NAME, "vision.%s.%d", parts[i][1], n) > 0;
        }
    }
    return 0;
}

static int wants(void *data, const struct graft_node *node) {
    char name[MAX_NAME];
    (void)data;
    return tensor_name(node, name);
}

static int record(void *data, struct graft_hooked_call *observation, struct graft_error *error) {
    struct recording *recording = data;
    char name[MAX_NAME];
    (void)error;
    (void)tensor_name(observation->node, name);
    const struct graft_view *out = NULL;
    for (int32_t i = 0; i < observation->n_views; i++) {
        out = observation->views[i].direction != GRAFT_VIEW_IN ? &observation->views[i] : out;
    }
    check(out != NULL, "%s: what it makes is not known", name);
    for (size_t i = 0; out != NULL && i < graft_safetensors_count(recording->golden->tensors); i++) {
        const struct graft_tensor_view *tensor = graft_safetensors_at(recording->golden->tensors, i);
        if (strcmp(tensor->name, name) != 0) {
            continue;
        }
        int64_t first = recording->rows[i];
        int fits = tensor->shape[1] == out->columns && first + out->rows <= tensor->shape[0];
        check(fits, "%s: other sizes than expected", name);
        recording->rows[i] += fits ? out->rows : 0;
        double difference = fits ? max_difference(out->data, (const float *)tensor->data + first * out->columns,
                                                  (size_t)(out->rows * out->columns))
                                 : 0.0;
        check(difference <= F32_TOLERANCE, "%s differs by %g", name, difference);
    }
    return GRAFT_OK;
}

static void check_parts(const struct golden *golden, struct runner *runner, const struct graft_prompt *prompt,
                        float *logits) {
    struct graft_error error = graft_error_none();
    struct recording recording = {.golden = golden};
    const struct graft_forward_hooks observer = {.wants = wants, .after = record, .data = &recording};
    struct graft_hook_handle *observing = NULL;
    check(graft_safetensors_count(golden->tensors) <= MAX_NAME, "too many tensors");
    need(graft_forward_hooks_register(runner->model->tree, &observer, &observing, &error), &error);
    need(graft_model_logits(runner->model, prompt, 1, logits, &error), &error);
    graft_forward_hooks_remove(observing);
    for (size_t i = 0; i < graft_safetensors_count(golden->tensors); i++) {
        const struct graft_tensor_view *tensor = graft_safetensors_at(golden->tensors, i);
        check(strncmp(tensor->name, "vision.", 7) != 0 || recording.rows[i] == tensor->shape[0], "%s: not all was seen",
              tensor->name);
    }
}

/* Compares the prompt's logits, alone and in a batch with text before and after it. */
static void check_logits(const struct golden *golden, struct runner *runner, const struct graft_prompt *prompt) {
    static const int32_t words[] = {5, 7, 6, 9};
    const struct graft_prompt text = {.struct_size = sizeof text, .ids = words, .count = 4};
    const struct graft_prompt batch[] = {text, *prompt, text, *prompt};
    struct graft_error error = graft_error_none();
    size_t count = golden->n_ids * runner->vocab_size;
    size_t four = 4 * runner->vocab_size;
    const float *expected = golden_tensor(golden, "logits", golden->n_ids, runner->vocab_size);
    float *logits = need_memory(count, sizeof *logits);
    float *together = need_memory(2 * (count + four), sizeof *together);
    check_parts(golden, runner, prompt, logits);
    check(max_difference(logits, expected, count) <= compare_tolerance(golden), "logits differ by %g",
          max_difference(logits, expected, count));
    need(graft_model_logits(runner->model, batch, 4, together, &error), &error);
    check(max_difference(together + four, expected, count) <= compare_tolerance(golden),
          "in a batch: logits differ by %g", max_difference(together + four, expected, count));
    check(max_difference(together + 2 * four + count, expected, count) <= compare_tolerance(golden),
          "last in a batch: by %g", max_difference(together + 2 * four + count, expected, count));
    for (int32_t threads = 1; threads <= 3; threads++) {
        graft_threads_set_count(threads);
        need(graft_model_logits(runner->model, prompt, 1, together, &error), &error);
        check(memcmp(together, logits, count * sizeof *logits) == 0, "%d threads: other logits", (int)threads);
    }
    graft_threads_set_count(0);
    free(logits);
    free(together);
}

/* Feeds one id at a time after the prompt: positions continue after the images. */
static void check_greedy(const struct golden *golden, const struct runner *runner, const struct graft_prompt *prompt) {
    static const int32_t slot = 0;
    struct graft_error error = graft_error_none();
    struct graft_session *session = runner_session(runner, 1);
    size_t vocab = runner->vocab_size;
    const float *expected = golden_tensor(golden, "greedy_logits", golden->n_greedy, vocab);
    struct graft_ids_view view = {
        .ids = prompt->ids, .count = prompt->count, .images = prompt->images, .n_images = prompt->n_images};
    for (size_t i = 0; i < golden->n_greedy; i++) {
        const float *logits = NULL;
        size_t best = 0;
        need(graft_session_step(session, &slot, &view, 1, GRAFT_LOGITS_LAST, &logits, &error), &error);
        for (size_t k = 1; k < vocab; k++) {
            best = logits[k] > logits[best] ? k : best;
        }
        double difference = max_difference(logits, expected + i * vocab, vocab);
        check((int32_t)best == golden->greedy_ids[i], "greedy id %zu is %zu, expected %d", i, best,
              (int)golden->greedy_ids[i]);
        check(difference <= compare_tolerance(golden), "greedy logits of step %zu differ by %g", i, difference);
        view = (struct graft_ids_view){.ids = &golden->greedy_ids[i], .count = 1};
    }
    graft_session_free(session);
}

/* Feeds ids to a slot, and compares the logits. */
static void feed(const struct golden *golden, const struct runner *runner, struct graft_session *session, int32_t slot,
                 const struct graft_ids_view *view, size_t step) {
    const float *expected = golden_tensor(golden, "greedy_logits", golden->n_greedy, runner->vocab_size);
    struct graft_error error = graft_error_none();
    const float *logits = NULL;
    need(graft_session_step(session, &slot, view, 1, GRAFT_LOGITS_LAST, &logits, &error), &error);
    double difference = max_difference(logits, expected + step * runner->vocab_size, runner->vocab_size);
    check(difference <= compare_tolerance(golden), "slot %d: logits of step %zu differ by %g", (int)slot, step,
          difference);
}

/* A fork has the positions of its source. A sequence can be rewound to places after the images, but not to within the
 * prompt. */
static void check_sequences(const struct golden *golden, const struct runner *runner,
                            const struct graft_prompt *prompt) {
    const struct graft_ids_view view = {
        .ids = prompt->ids, .count = prompt->count, .images = prompt->images, .n_images = prompt->n_images};
    const struct graft_ids_view next = {.ids = golden->greedy_ids, .count = 1};
    struct graft_error error = graft_error_none();
    struct graft_session *session = runner_session(runner, 2);
    int64_t reached = -1;
    feed(golden, runner, session, 0, &view, 0);
    feed(golden, runner, session, 0, &next, 1);
    need(graft_session_rewind(session, 0, (int64_t)prompt->count, &reached, &error), &error);
    check(reached == (int64_t)prompt->count, "reached %lld after the images", (long long)reached);
    need(graft_session_fork(session, 0, 1, &error), &error);
    feed(golden, runner, session, 1, &next, 1);
    feed(golden, runner, session, 0, &next, 1);
    need(graft_session_rewind(session, 0, (int64_t)prompt->count - 1, &reached, &error), &error);
    check(reached == 0, "reached %lld within the prompt", (long long)reached);
    feed(golden, runner, session, 0, &view, 0);
    graft_session_free(session);
}

static void check_refused(struct runner *runner, const char *what, const struct graft_prompt *prompt,
                          const char *message) {
    struct graft_error error = graft_error_none();
    float *logits = need_memory(prompt->count * runner->vocab_size, sizeof *logits);
    int status = graft_model_logits(runner->model, prompt, 1, logits, &error);
    check(status == GRAFT_ERROR_USAGE && strstr(error.message, message) != NULL, "%s: status %d, %s", what, status,
          error.message);
    free(logits);
}

/* If the same token stands for images and videos, a video of one patch along time equals an image. */
static void check_mixed(const struct golden *golden, struct runner *runner, const struct graft_prompt *prompt) {
    struct graft_error error = graft_error_none();
    const size_t count = golden->n_ids * runner->vocab_size;
    float *logits = need_memory(count, sizeof *logits);
    need(graft_model_logits(runner->model, prompt, 1, logits, &error), &error);
    const double difference =
        max_difference(logits, golden_tensor(golden, "logits", golden->n_ids, runner->vocab_size), count);
    check(difference <= compare_tolerance(golden), "images and videos mixed: logits differ by %g", difference);
    free(logits);
}

/* Whether all images have the same number of patches. */
static int has_fixed_size(const struct runner *runner) {
    return graft_model_class_at(runner->model, "model.visual.patch_embed") == NULL;
}

/* The number of images must match their tokens. */
static void check_refusals(const struct golden *golden, struct runner *runner, const struct graft_prompt *prompt) {
    const int one_token = graft_json_get(golden->document, "token_types") != NULL;
    struct graft_image more[MAX_IMAGES + 1];
    struct graft_prompt wrong = *prompt;
    memcpy(more, prompt->images, prompt->n_images * sizeof *more);
    more[prompt->n_images] = prompt->images[0];
    wrong.images = more;
    wrong.n_images = prompt->n_images + 1;
    check_refused(runner, "the first one twice", &wrong, has_fixed_size(runner) ? "" : "do not match");
    wrong.n_images = prompt->n_images;
    wrong.count = 6;
    check_refused(runner, "a prompt that ends within the first", &wrong, "");
    wrong.count = prompt->count;
    more[0].grid[1]++;
    check_refused(runner, "an odd grid", &wrong, has_fixed_size(runner) ? "" : "cannot be divided into squares of 2");
    more[0].grid[1]++;
    check_refused(runner, "a larger grid", &wrong, "");
    more[0] = prompt->images[0];
    more[0].is_video = !more[0].is_video;
    if (!one_token || more[0].grid[0] > 1) {
        check_refused(runner, "an image for a video", &wrong, "");
    } else {
        check_mixed(golden, runner, &wrong);
    }
    wrong.n_images = 0;
    check_refused(runner, "none", &wrong, "to go with them");
}

int main(int argc, char **argv) {
    struct golden golden;
    struct runner runner;
    struct images images;
    if (argc < 2 || argc > 4) {
        (void)fputs("usage: test_vision CASE-DIRECTORY [PLUGINS-DIRECTORY [FUSION-CONFIG]]\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    runner_open_fused(&runner, argv[1], argc > 2 ? argv[2] : NULL, GRAFT_PRECISION_FLOAT32, argc > 3 ? argv[3] : NULL);
    const char *embedding = graft_model_class_at(runner.model, "model.visual.patch_embed");
    check(has_fixed_size(&runner) || ((strncmp(embedding, "Fused", strlen("Fused")) == 0) == (argc > 3) &&
                                      strstr(embedding, "PatchEmbed") != NULL),
          "the patch embedding is a %s", embedding);
    read_images(&golden, graft_model_videos_by_frame(runner.model), &images);
    const struct graft_prompt prompt = {.struct_size = sizeof prompt,
                                        .ids = golden.ids,
                                        .count = golden.n_ids,
                                        .images = images.items,
                                        .n_images = images.n};
    if (argc == 2) {
        compare_structure(&golden, &runner);
    }
    check_logits(&golden, &runner, &prompt);
    check_greedy(&golden, &runner, &prompt);
    check_sequences(&golden, &runner, &prompt);
    check_refusals(&golden, &runner, &prompt);
    runner_close(&runner);
    golden_close(&golden);
    return check_failures() != 0;
}
