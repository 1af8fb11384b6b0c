/* SPDX-License-Identifier: Apache-2.0 */
/* The library's calls for images: files and pixels in memory, what a model says of them, and memory that runs out. */
#include "graft/host/images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
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
    struct graft_image image, same;
    struct graft_pixels pixels;
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
    image.grid[2]++;
    assert_int_equal(graft_model_image_tokens(model, &image), 0);
    assert_int_equal(graft_image_processor_rgb(processor, pixels.rgb, 0, 5, &same, &error), GRAFT_ERROR_IO);
    graft_image_finish(&image);
    graft_pixels_finish(&pixels);
    graft_image_processor_free(processor);
    graft_model_free(model);
    graft_free(file);
}

static void test_text_model(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = open_model("tiny-qwen2-moe");
    struct graft_image_processor *processor = NULL;
    const struct graft_image image = {.struct_size = sizeof image, .grid = {1, 2, 2}};
    (void)state;
    assert_int_equal(graft_model_image_token_id(model), -1);
    assert_int_equal(graft_model_image_tokens(model, &image), 0);
    assert_int_equal(graft_image_processor_open(model, &processor, &error), GRAFT_ERROR_USAGE);
    assert_null(processor);
    graft_model_free(model);
}

/* Each allocation fails in turn: an error, and nothing is left behind (the sanitizers' build looks). */
static void test_memory(void **state) {
    struct graft_model *model = open_model("tiny-qwen2-vl");
    char *folder = graft_path_join(getenv("GRAFT_TEST_DATA"), "goldens/images");
    char *file = graft_path_join(folder, "cmyk.jpg");
    int status = GRAFT_ERROR_INTERNAL;
    (void)state;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_error error = graft_error_none();
        struct graft_image_processor *processor = NULL;
        struct graft_image image = {0};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_and_pixels),
        cmocka_unit_test(test_text_model),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
