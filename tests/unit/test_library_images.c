/* SPDX-License-Identifier: Apache-2.0 */
/* The library's calls for images and videos: files and pixels in memory, the model's properties, and memory that runs
 * out. */
#define _XOPEN_SOURCE 700 /* for folder.h */
#include "graft/host/graft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "folder.h"
#include "image/decode.h"

static struct graft_library *library;

static int set_up(void **state) {
    (void)state;
    return graft_library_create(&library, NULL);
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    return 0;
}

static char *demo(const char *name) {
    char *tests = graft_path_join(getenv("GRAFT_TEST_DATA"), "../demo");
    char *path = graft_path_join(tests, name);
    graft_free(tests);
    return path;
}

static struct graft_model *open_model(const char *name) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = NULL;
    char *directory = demo(name);
    assert_int_equal(graft_model_open(library, directory, NULL, &model, &error), GRAFT_OK);
    graft_free(directory);
    return model;
}

static void test_file_and_pixels(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = open_model("tiny-qwen2-vl");
    char *file = demo("tiny-qwen2-vl/samples/2-blue-square-on-yellow.png");
    struct graft_image_processor *processor = NULL;
    struct graft_image image = {.struct_size = sizeof image}, same = image;
    struct graft_pixels pixels;
    char *bytes = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(graft_model_image_token_id(model), 383);
    assert_int_equal(graft_image_processor_open(model, &processor, &error), GRAFT_OK);
    graft_model_free(model);
    model = open_model("tiny-qwen2-vl");
    assert_int_equal(graft_image_processor_read(processor, file, &image, &error), GRAFT_OK);
    assert_int_equal(graft_model_image_tokens(model, &image), 6);
    assert_int_equal(graft_pixels_read(file, &pixels, &error), GRAFT_OK);
    assert_int_equal(graft_image_processor_rgb(processor, pixels.rgb, pixels.width, pixels.height, &same, &error),
                     GRAFT_OK);
    assert_memory_equal(same.grid, image.grid, sizeof same.grid);
    assert_memory_equal(same.pixel_values, image.pixel_values,
                        (size_t)(image.grid[1] * image.grid[2] * image.patch_dim) * sizeof(float));
    graft_image_finish(&same);
    assert_int_equal(graft_file_read(file, 1 << 20, GRAFT_ERROR_IO, &bytes, &length, &error), GRAFT_OK);
    assert_int_equal(graft_image_processor_decode(processor, bytes, length, "memory", &same, &error), GRAFT_OK);
    assert_memory_equal(same.grid, image.grid, sizeof same.grid);
    graft_image_finish(&same);
    assert_int_equal(graft_image_processor_decode(processor, bytes, 5, "memory", &same, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "memory");
    graft_free(bytes);
    image.grid[2]++;
    assert_int_equal(graft_model_image_tokens(model, &image), 0);
    assert_int_equal(graft_image_processor_rgb(processor, pixels.rgb, 0, 5, &same, &error), GRAFT_ERROR_USAGE);
    graft_image_finish(&image);
    graft_pixels_finish(&pixels);
    graft_image_processor_free(processor);
    graft_model_free(model);
    graft_free(file);
}

static void test_video(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = open_model("tiny-qwen2-vl");
    struct graft_video_processor *processor = NULL;
    char *frames = demo("../tests/goldens/videos/capped/frames");
    struct graft_image video = {.struct_size = sizeof video}, same = video;
    uint8_t rgb[4 * 20 * 24 * 3];
    (void)state;
    assert_int_equal(graft_model_video_token_id(model), 384);
    assert_int_equal(graft_video_processor_open(model, &processor, &error), GRAFT_OK);
    assert_int_equal(graft_video_processor_read(processor, frames, &video, &error), GRAFT_OK);
    assert_int_equal(video.grid[0], 2);
    assert_int_equal(graft_model_image_tokens(model, &video), 2 * (video.grid[1] / 2) * (video.grid[2] / 2));
    for (size_t i = 0; i < 4; i++) {
        char name[] = "frame1.png";
        struct graft_pixels pixels;
        name[5] = (char)('1' + i);
        char *file = graft_path_join(frames, name);
        assert_int_equal(graft_pixels_read(file, &pixels, &error), GRAFT_OK);
        memcpy(rgb + i * sizeof rgb / 4, pixels.rgb, sizeof rgb / 4);
        graft_pixels_finish(&pixels);
        graft_free(file);
    }
    assert_int_equal(graft_video_processor_rgb(processor, rgb, 4, 24, 20, &same, &error), GRAFT_OK);
    assert_memory_equal(same.grid, video.grid, sizeof same.grid);
    assert_memory_equal(same.pixel_values, video.pixel_values,
                        (size_t)(video.grid[0] * video.grid[1] * video.grid[2] * video.patch_dim) * sizeof(float));
    graft_image_finish(&same);
    assert_int_equal(graft_video_processor_rgb(processor, rgb, 0, 24, 20, &same, &error), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_video_processor_rgb(processor, rgb, 4, INT64_MAX, INT64_MAX, &same, NULL),
                     GRAFT_ERROR_USAGE);
    graft_image_finish(&video);
    graft_video_processor_free(processor);
    graft_model_free(model);
    graft_free(frames);
}

/* Placeholders of a prompt become as many tokens as their images have. */
static void test_placing(void **state) {
    static const int32_t given[] = {1, 383, 2, 384, 383, 383, 3};
    static const int32_t wanted[] = {1, 383, 383, 2, 384, 384, 383, 383, 3};
    const struct graft_image images[] = {{.struct_size = sizeof images[0], .grid = {1, 2, 4}},
                                         {.struct_size = sizeof images[0], .grid = {2, 2, 2}, .is_video = 1},
                                         {.struct_size = sizeof images[0], .grid = {1, 4, 2}}};
    const struct graft_image swapped[] = {images[1], images[0], images[2]};
    struct graft_model *model = open_model("tiny-qwen2-vl");
    struct graft_error error = graft_error_none();
    struct graft_ids ids = {0};
    (void)state;
    graft_ids_append(&ids, given, 7);
    assert_int_equal(graft_model_place_images(model, NULL, images, 2, &ids, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "got 2 images and videos, but the prompt has placeholders for 3");
    error = graft_error_none();
    assert_int_equal(graft_model_place_images(model, NULL, swapped, 3, &ids, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "placeholder 1 is not for a video, which is given for it");
    assert_int_equal(ids.n, 7);
    assert_int_equal(graft_model_place_images(model, NULL, images, 3, &ids, &error), GRAFT_OK);
    assert_int_equal(ids.n, 9);
    assert_memory_equal(ids.ids, wanted, sizeof wanted);
    graft_ids_free(&ids);
    graft_model_free(model);
}

/* Image tokens without an image are an error of every call that reads a prompt. */
static void test_places_without_images(void **state) {
    static const int32_t tokens[] = {383, 384};
    static const char *const messages[] = {"prompt 1 has image tokens (383), but no image to go with them",
                                           "prompt 1 has video tokens (384), but no video to go with them"};
    struct graft_model *model = open_model("tiny-qwen2-vl");
    float logits[3 * 512];
    (void)state;
    assert_int_equal(graft_model_vocab_size(model), 512);
    assert_int_equal(graft_model_load(model, NULL), GRAFT_OK);
    for (size_t i = 0; i < 2; i++) {
        const int32_t ids[] = {380, tokens[i], 381};
        const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 3};
        struct graft_recording *recording = NULL;
        struct graft_error error = graft_error_none();
        assert_int_equal(graft_model_logits(model, &prompt, 1, logits, &error), GRAFT_ERROR_USAGE);
        assert_string_equal(error.message, messages[i]);
        error = graft_error_none();
        assert_int_equal(graft_model_generate(model, &prompt, 1, NULL, NULL, NULL, &error), GRAFT_ERROR_USAGE);
        assert_string_equal(error.message, messages[i]);
        error = graft_error_none();
        assert_int_equal(graft_model_record(model, &prompt, 1, GRAFT_RECORD_HIDDEN_STATES, &recording, &error),
                         GRAFT_ERROR_USAGE);
        assert_string_equal(error.message, messages[i]);
    }
    graft_model_free(model);
}

static void test_text_model(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = open_model("tiny-qwen2-moe");
    struct graft_image_processor *processor = NULL;
    struct graft_video_processor *videos = NULL;
    const struct graft_image image = {.struct_size = sizeof image, .grid = {1, 2, 2}};
    (void)state;
    assert_int_equal(graft_model_image_token_id(model), -1);
    assert_int_equal(graft_model_image_tokens(model, &image), 0);
    assert_int_equal(graft_image_processor_open(model, &processor, &error), GRAFT_ERROR_USAGE);
    assert_null(processor);
    assert_int_equal(graft_model_video_token_id(model), -1);
    assert_int_equal(graft_video_processor_open(model, &videos, NULL), GRAFT_ERROR_USAGE);
    assert_null(videos);
    assert_int_equal(graft_model_load(model, NULL), GRAFT_OK);
    for (int32_t is_video = 0; is_video < 2; is_video++) {
        static const int32_t ids[] = {1, 2, 3};
        const struct graft_image given = {.struct_size = sizeof given, .grid = {1, 2, 2}, .is_video = is_video};
        const struct graft_prompt prompt = {
            .struct_size = sizeof prompt, .ids = ids, .count = 3, .images = &given, .n_images = 1};
        error = graft_error_none();
        assert_int_equal(graft_model_generate(model, &prompt, 1, NULL, NULL, NULL, &error), GRAFT_ERROR_USAGE);
        assert_string_equal(error.message, is_video ? "prompt 1: Qwen2MoeForCausalLM takes no videos"
                                                    : "prompt 1: Qwen2MoeForCausalLM takes no images");
    }
    graft_model_free(model);
}

/* How a model that gets a video's frames one by one expands it: the ids of a text with the frames' times, in which each
 * placeholder is repeated once for each token of a frame. */
struct frames_case {
    const char *model;
    const char *tokens[2]; /* around a frame */
    const char *text;
    double seconds; /* of a patch along time */
    int takes_image_tokens;
};

/* A folder with the demo's tokenizer, whose tokens around images are called `tokens`. */
static void write_tokenizer(const char *folder, const char *const tokens[2]) {
    static const char *const own[2] = {"<|vision_start|>", "<|vision_end|>"};
    struct graft_error error = graft_error_none();
    char *directory = demo("tiny-qwen2-vl"), *file = graft_path_join(directory, "tokenizer.json"), *text = NULL;
    size_t length;
    assert_int_equal(graft_file_read(file, 1 << 20, GRAFT_ERROR_MODEL, &text, &length, &error), GRAFT_OK);
    FILE *out = fopen(folder_path(folder, "tokenizer.json"), "wb");
    assert_non_null(out);
    for (size_t i = 0; i < length;) {
        int k = strncmp(text + i, own[0], strlen(own[0])) == 0   ? 0
                : strncmp(text + i, own[1], strlen(own[1])) == 0 ? 1
                                                                 : 2;
        assert_true(k < 2 ? fputs(tokens[k], out) >= 0 : fputc(text[i], out) != EOF);
        i += k < 2 ? strlen(own[k]) : 1;
    }
    assert_int_equal(fclose(out), 0);
    graft_free(text);
    graft_free(file);
    graft_free(directory);
}

static void check_frames(const struct frames_case *expects) {
    const struct graft_image video = {
        .struct_size = sizeof video, .grid = {3, 4, 2}, .is_video = 1, .seconds = expects->seconds, .frames = 5};
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_model *model = NULL;
    struct graft_ids whole = {0}, expected = {0}, ids = {0};
    char *directory = graft_path_join(getenv("GRAFT_TEST_GOLDENS"), expects->model);
    char folder[64];
    folder_create(folder);
    write_tokenizer(folder, expects->tokens);
    assert_int_equal(graft_model_open(library, directory, NULL, &model, &error), GRAFT_OK);
    assert_int_equal(graft_tokenizer_load(folder, &tokenizer, &error), GRAFT_OK);
    assert_true(graft_model_videos_by_frame(model));
    assert_int_equal(graft_tokenizer_encode(tokenizer, expects->text, strlen(expects->text), 0, &whole, &error),
                     GRAFT_OK);
    const int32_t id =
        expects->takes_image_tokens ? graft_model_image_token_id(model) : graft_model_video_token_id(model);
    for (size_t i = 0; i < whole.n; i++) {
        const int is_pad = whole.ids[i] == graft_tokenizer_id(tokenizer, "<|video_pad|>");
        for (int k = 0; k < (is_pad ? 2 : 1); k++) {
            graft_ids_add(&expected, is_pad ? id : whole.ids[i]);
        }
    }
    assert_int_equal(graft_model_image_ids(model, tokenizer, &video, &ids, &error), GRAFT_OK);
    assert_int_equal(ids.n, expected.n);
    assert_memory_equal(ids.ids, expected.ids, ids.n * sizeof *ids.ids);
    assert_int_equal(graft_model_image_ids(model, NULL, &video, &ids, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, expects->tokens[0]));
    graft_ids_free(&whole);
    graft_ids_free(&expected);
    graft_ids_free(&ids);
    graft_tokenizer_free(tokenizer);
    graft_model_free(model);
    graft_free(directory);
    folder_remove(folder);
}

/* GLM's seconds are those of a patch's first frame, rounded down. */
static void test_frames(void **state) {
    static const struct frames_case cases[] = {
        {"vision/qwen3_vl",
         {"<|vision_start|>", "<|vision_end|>"},
         "<0.0 seconds><|vision_start|><|video_pad|><|vision_end|><0.1 seconds><|vision_start|><|video_pad|>"
         "<|vision_end|><0.2 seconds><|vision_start|><|video_pad|><|vision_end|>",
         2.0 / 24.0,
         0},
        {"vision/glm4v",
         {"<|begin_of_image|>", "<|end_of_image|>"},
         "<|begin_of_image|><|video_pad|><|end_of_image|>0<|begin_of_image|><|video_pad|><|end_of_image|>0"
         "<|begin_of_image|><|video_pad|><|end_of_image|>1",
         0.75,
         1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_frames(&cases[i]);
    }
}

/* The ids of a text, in which "<|image_pad|>" stands for `image`. */
static struct graft_ids ids_of(const struct graft_tokenizer *tokenizer, const char *text, int32_t image) {
    struct graft_error error = graft_error_none();
    struct graft_ids ids = {0};
    assert_int_equal(graft_tokenizer_encode(tokenizer, text, strlen(text), 0, &ids, &error), GRAFT_OK);
    for (size_t i = 0; i < ids.n; i++) {
        ids.ids[i] = ids.ids[i] == graft_tokenizer_id(tokenizer, "<|image_pad|>") ? image : ids.ids[i];
    }
    return ids;
}

/* What processors add around images: line breaks that join those of the text, tokens that begin and end an image, or
 * the first token of the text after the images, and a line break at the end. In texts, 60, 61 and 62 stand for the
 * image tokens of the models' configs, which are written as three special tokens of the tokenizer. */
static void test_prompts(void **state) {
#define FOUR "<|quad_start|><|quad_start|><|quad_start|><|quad_start|>"
    static const struct {
        const char *model;
        const char *prompt; /* "<|image_pad|>" asks for an image */
        const char *expected;
    } cases[] = {
        {"vision/gemma3", "Hi\n<|image_pad|>What?\n", "Hi\n\n\n<|box_start|>" FOUR "<|box_end|>\n\nWhat?\n"},
        {"vision/gemma3", "<|image_pad|>\n\nWhat?", "\n\n<|box_start|>" FOUR "<|box_end|>\n\n\n\nWhat?"},
        {"vision/gemma3", "<|box_start|>" FOUR "<|box_end|>What?", "<|box_start|>" FOUR "<|box_end|>What?"},
        {"vision/paligemma", "<|im_start|><|image_pad|>What", FOUR FOUR FOUR FOUR "<|im_start|>What\n"},
        {"vision/paligemma", "<|image_pad|>", FOUR FOUR FOUR FOUR "<|im_start|>\n"},
        {"vision/paligemma", FOUR FOUR FOUR FOUR "<|im_start|>What?", FOUR FOUR FOUR FOUR "<|im_start|>What?"},
    };
    static const struct {
        const char *name;
        int32_t id;
    } spelled[] = {{"<|quad_start|>", 60}, {"<|box_start|>", 61}, {"<|box_end|>", 62}, {"<|im_start|>", 1}};
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    char *words = demo("tiny-qwen2-vl");
    (void)state;
    assert_int_equal(graft_tokenizer_load(words, &tokenizer, &error), GRAFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_image image = {.struct_size = sizeof image, .grid = {1, 4, 4}};
        struct graft_model *model = NULL;
        char *directory = graft_path_join(getenv("GRAFT_TEST_GOLDENS"), cases[i].model);
        assert_int_equal(graft_model_open(library, directory, NULL, &model, &error), GRAFT_OK);
        struct graft_ids ids = ids_of(tokenizer, cases[i].prompt, graft_model_image_place_id(model));
        struct graft_ids expected = ids_of(tokenizer, cases[i].expected, -1);
        for (size_t k = 0; k < sizeof spelled / sizeof spelled[0]; k++) {
            struct graft_ids *both[] = {&ids, &expected};
            for (size_t j = 0; j < 2; j++) {
                for (size_t at = 0; at < both[j]->n; at++) {
                    const int is = both[j]->ids[at] == graft_tokenizer_id(tokenizer, spelled[k].name);
                    both[j]->ids[at] = is ? spelled[k].id : both[j]->ids[at];
                }
            }
        }
        assert_int_equal(graft_model_place_images(model, tokenizer, &image, 1, &ids, &error), GRAFT_OK);
        assert_int_equal(ids.n, expected.n);
        assert_memory_equal(ids.ids, expected.ids, ids.n * sizeof *ids.ids);
        graft_ids_free(&ids);
        graft_ids_free(&expected);
        graft_model_free(model);
        graft_free(directory);
    }
    graft_tokenizer_free(tokenizer);
    graft_free(words);
}

/* Each allocation fails in turn: an error, and nothing leaks (checked in the build with sanitizers). */
static void test_memory(void **state) {
    struct graft_model *model = open_model("tiny-qwen2-vl");
    char *folder = graft_path_join(getenv("GRAFT_TEST_DATA"), "goldens/images");
    char *file = graft_path_join(folder, "cmyk.jpg");
    int status = GRAFT_ERROR_INTERNAL;
    (void)state;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_error error = graft_error_none();
        struct graft_image_processor *processor = NULL;
        struct graft_image image = {.struct_size = sizeof image};
        graft_alloc_fail_at(n);
        status = graft_image_processor_open(model, &processor, &error);
        if (status == GRAFT_OK) {
            status = graft_image_processor_read(processor, file, &image, &error);
        }
        graft_alloc_fail_at(0);
        assert_true(status == GRAFT_OK || error.message[0] != '\0');
        graft_image_finish(&image);
        graft_image_processor_free(processor);
    }
    graft_model_free(model);
    graft_free(file);
    graft_free(folder);
}

static void test_video_memory(void **state) {
    struct graft_model *model = open_model("tiny-qwen2-vl");
    char *frames = demo("../tests/goldens/videos/up/frames");
    int status = GRAFT_ERROR_INTERNAL;
    (void)state;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_error error = graft_error_none();
        struct graft_video_processor *processor = NULL;
        struct graft_image video = {.struct_size = sizeof video};
        graft_alloc_fail_at(n);
        status = graft_video_processor_open(model, &processor, &error);
        if (status == GRAFT_OK) {
            status = graft_video_processor_read(processor, frames, &video, &error);
        }
        graft_alloc_fail_at(0);
        assert_true(status == GRAFT_OK || error.message[0] != '\0');
        graft_image_finish(&video);
        graft_video_processor_free(processor);
    }
    graft_model_free(model);
    graft_free(frames);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_and_pixels), cmocka_unit_test(test_video),
        cmocka_unit_test(test_placing),         cmocka_unit_test(test_places_without_images),
        cmocka_unit_test(test_text_model),      cmocka_unit_test(test_frames),
        cmocka_unit_test(test_prompts),         cmocka_unit_test(test_memory),
        cmocka_unit_test(test_video_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
