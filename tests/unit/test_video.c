/* SPDX-License-Identifier: Apache-2.0 */
/* Videos: compares the frames of a directory with transformers' video processor, bit for bit; the order of frames, and
 * files that are no video. */
#include "config/config.h"
#include "image/decode.h"
#include "image/frames.h"
#include "image/processor.h"

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
#include "base/json.h"
#include "weights/safetensors.h"

static char *folder;
static struct graft_safetensors *golden;

static int set_up(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    folder = graft_path_join(getenv("GRAFT_TEST_DATA"), "goldens/videos");
    char *file = graft_path_join(folder, "golden.safetensors");
    int status = graft_safetensors_open(file, &golden, &error);
    graft_free(file);
    return status != GRAFT_OK;
}

static int tear_down(void **state) {
    (void)state;
    graft_safetensors_close(golden);
    graft_free(folder);
    return 0;
}

static const struct graft_tensor_view *tensor(const char *name, const char *part) {
    char full[128];
    (void)snprintf(full, sizeof full, "%s.%s", name, part);
    const struct graft_tensor_view *found = graft_safetensors_find(golden, full);
    assert_non_null(found);
    return found;
}

static int read_file(void *data, size_t i, struct graft_pixels *pixels, const char **source,
                     struct graft_error *error) {
    const struct graft_frame_files *files = data;
    *source = files->paths[i];
    return graft_pixels_read(files->paths[i], pixels, error);
}

static void check_video(const char *name) {
    struct graft_error error = graft_error_none();
    struct graft_processor_config config;
    struct graft_frame_files files;
    struct graft_image video;
    char *directory = graft_path_join(folder, name);
    char *inner = graft_path_join(directory, "frames");
    struct graft_model_file *file = NULL;
    assert_int_equal(graft_model_file_read(directory, "video_preprocessor_config.json", 1 << 20, NULL, &file, &error),
                     GRAFT_OK);
    assert_int_equal(graft_processor_config_read(&file->view, 1, &config, &error), GRAFT_OK);
    graft_model_file_free(file);
    assert_int_equal(graft_frame_files_find(inner, &files, &error), GRAFT_OK);
    const struct graft_frames frames = {files.count, read_file, &files};
    if (graft_process_frames(&config, &frames, inner, &video, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    assert_int_equal(video.is_video, 1);
    assert_memory_equal(tensor(name, "grid")->data, video.grid, sizeof video.grid);
    const struct graft_tensor_view *levels = tensor(name, "levels");
    const char *table = tensor(name, "table")->data;
    int64_t pixels = video.patch_dim / 3;
    assert_int_equal(levels->bytes, video.grid[0] * video.grid[1] * video.grid[2] * video.patch_dim);
    for (int64_t i = 0; i < levels->bytes; i++) {
        int64_t level = i / pixels % 3 * 256 + ((const uint8_t *)levels->data)[i];
        float expected;
        memcpy(&expected, table + level * 4, sizeof expected);
        if (memcmp(&expected, &video.pixel_values[i], sizeof expected) != 0) {
            fail_msg("%s: value %ld is %.9g, expected %.9g", name, (long)i, (double)video.pixel_values[i],
                     (double)expected);
        }
    }
    graft_free((void *)(uintptr_t)video.pixel_values);
    graft_frame_files_finish(&files);
    graft_free(inner);
    graft_free(directory);
}

static void test_golden(void **state) {
    static const char *const names[] = {"down",   "up",           "same",    "narrow",     "bilinear",
                                        "capped", "capped_least", "counted", "counted_up", "counted_capped",
                                        "glm",    "glm_up"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_video(names[i]);
    }
    assert_int_equal(graft_safetensors_count(golden), 3 * sizeof names / sizeof names[0]);
}

static void test_order(void **state) {
    static const char *const ascending[] = {"1.png",
                                            "01.png",
                                            "2.png",
                                            "10.png",
                                            "a",
                                            "a1b2",
                                            "a1b10",
                                            "a02",
                                            "a2",
                                            "b",
                                            "b99999999999999999998",
                                            "b99999999999999999999",
                                            "b100000000000000000000",
                                            "\xc3\xa4"};
    size_t n = sizeof ascending / sizeof ascending[0];
    (void)state;
    assert_true(graft_frame_names_compare("01.png", "1.png") < 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(graft_frame_names_compare(ascending[i], ascending[i]), 0);
        for (size_t k = i + 1; k < n; k++) {
            if (i == 0 && k == 1) {
                continue; /* the same number: above */
            }
            assert_true(graft_frame_names_compare(ascending[i], ascending[k]) < 0);
            assert_true(graft_frame_names_compare(ascending[k], ascending[i]) > 0);
        }
    }
}

/* Frames of a single colour each, with the given widths. */
struct plain {
    const int64_t *widths;
};

static int read_plain(void *data, size_t i, struct graft_pixels *pixels, const char **source,
                      struct graft_error *error) {
    const struct plain *plain = data;
    *source = "some frame";
    int status = graft_pixels_init(pixels, plain->widths[i], 8, *source, error);
    if (status == GRAFT_OK) {
        memset(pixels->rgb, (int)i + 1, (size_t)(plain->widths[i] * 8 * 3));
    }
    return status;
}

static struct graft_processor_config plain_config(void) {
    return (struct graft_processor_config){.is_video = 1, .patch_size = 2, .temporal_patch_size = 2, .merge_size = 2};
}

static void refused(const struct graft_processor_config *config, const int64_t *widths, size_t count,
                    const char *message) {
    struct graft_error error = graft_error_none();
    struct plain plain = {widths};
    struct graft_image video;
    const struct graft_frames frames = {count, read_plain, &plain};
    assert_int_equal(graft_process_frames(config, &frames, "video", &video, &error), GRAFT_ERROR_IO);
    assert_non_null(strstr(error.message, message));
    assert_null(video.pixel_values);
}

static void test_refusals(void **state) {
    static const int64_t widths[] = {8, 8, 12}, odd[] = {9}, none[] = {0};
    struct graft_processor_config config = plain_config();
    (void)state;
    refused(&config, widths, 3, "12 x 8 pixels: expected 8 x 8, the size of the video's first frame");
    refused(&config, widths, 0, "0 frames: expected 1 to 65536");
    refused(&config, widths, SIZE_MAX, "frames: expected 1 to 65536");
    refused(&config, odd, 1, "expected multiples of 4");
    refused(&config, none, 1, "0 x 8 pixels");
    config.do_resize = 1;
    config.resample = 3;
    config.min_pixels = INT64_C(1) << 40;
    config.max_pixels = INT64_C(1) << 41;
    refused(&config, widths, 1, "pixels: expected 1 to 89478485 in all");
}

/* Frames in patches of two; the third frame is repeated as the fourth. */
static void test_last_repeated(void **state) {
    static const int64_t widths[] = {4, 4, 4};
    struct graft_processor_config config = plain_config();
    struct graft_error error = graft_error_none();
    struct plain plain = {widths};
    struct graft_image video;
    const struct graft_frames frames = {3, read_plain, &plain};
    (void)state;
    assert_int_equal(graft_process_frames(&config, &frames, "video", &video, &error), GRAFT_OK);
    assert_int_equal(video.grid[0], 2);
    for (int64_t i = 0; i < 2 * 8 * video.patch_dim; i++) {
        int64_t frame = i / (8 * video.patch_dim) * 2 + i / 4 % 2;
        assert_true(video.pixel_values[i] == (float)(frame < 2 ? frame + 1 : 3));
    }
    graft_free((void *)(uintptr_t)video.pixel_values);
}

static int parse(const char *text, struct graft_processor_config *config, struct graft_error *error) {
    graft_json *document = NULL;
    assert_int_equal(graft_json_parse(text, strlen(text), "test", &document, error), GRAFT_OK);
    const struct graft_config view = graft_config_view(document, "test");
    int status = graft_processor_config_read(&view, 1, config, error);
    graft_json_free(document);
    return status;
}

static void test_config(void **state) {
    static const char *const bad[][2] = {
        {"{\"video_processor_type\": \"SmolVLMVideoProcessor\"}", "expected \"Qwen2VLVideoProcessor\""},
        {"{\"rescale_factor\": 0}", "rescale_factor: expected a number other than 0"},
        {"{\"max_video_tokens\": 16777217}", "max_video_tokens: expected 1 to 16777216"},
        {"{\"cap_pixels_per_frame\": 1}", "cap_pixels_per_frame: expected a boolean"},
        {"{\"size\": {\"shortest_edge\": 10}}", "size.longest_edge: expected an integer"},
    };
    struct graft_processor_config config;
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(parse("{}", &config, &error), GRAFT_OK);
    assert_int_equal(config.min_pixels, 128 * 28 * 28);
    assert_int_equal(config.max_pixels, 768 * 28 * 28);
    assert_int_equal(parse("{\"video_processor_type\": \"Qwen3VLVideoProcessor\"}", &config, &error), GRAFT_OK);
    assert_int_equal(config.max_pixels, 768 * 32 * 32);
    assert_int_equal(config.patch_size, 16);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = graft_error_none();
        assert_int_equal(parse(bad[i][0], &config, &error), GRAFT_ERROR_MODEL);
        assert_non_null(strstr(error.message, bad[i][1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),        cmocka_unit_test(test_order),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_last_repeated), cmocka_unit_test(test_config),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
