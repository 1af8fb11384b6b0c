/* SPDX-License-Identifier: Apache-2.0 */
/* Compares images with those that transformers' image processor makes of the same files, bit for bit. */
#include "image/decode.h"
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
#include "config/model_file.h"
#include "weights/safetensors.h"

static char *folder;
static struct graft_safetensors *golden;

/* Processors, and the prefix of the names of their tensors and of their config; the first has none. */
static const char *const prefixes[] = {"", "clip_", "clip_pad_", "siglip_", "gemma3_", "glm4v_"};
enum { N_PROCESSORS = sizeof prefixes / sizeof prefixes[0] };
static struct graft_processor_config configs[N_PROCESSORS];

static int read_config(size_t i, struct graft_error *error) {
    struct graft_model_file *preprocessor = NULL;
    char name[64];
    (void)snprintf(name, sizeof name, "%spreprocessor_config.json", prefixes[i]);
    int status = graft_model_file_read(folder, name, 1 << 20, NULL, &preprocessor, error);
    if (status == GRAFT_OK) {
        status = graft_processor_config_read(&preprocessor->view, 0, &configs[i], error);
    }
    if (status == GRAFT_OK && configs[i].is_fixed) {
        configs[i].patch_size = configs[i].merge_size = 2; /* as a model's config has it */
    }
    graft_model_file_free(preprocessor);
    return status;
}

static int set_up(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    folder = graft_path_join(getenv("GRAFT_TEST_DATA"), "goldens/images");
    char *file = graft_path_join(folder, "golden.safetensors");
    int status = graft_safetensors_open(file, &golden, &error);
    graft_free(file);
    for (size_t i = 0; i < N_PROCESSORS && status == GRAFT_OK; i++) {
        status = read_config(i, &error);
    }
    return status != GRAFT_OK;
}

static int tear_down(void **state) {
    (void)state;
    graft_safetensors_close(golden);
    graft_free(folder);
    return 0;
}

/* Checks that values [patches, 3, patch_size^2] are entries of the table [3, 256]. */
static void assert_levels(const struct graft_image *image, const struct graft_tensor_view *table,
                          const struct graft_tensor_view *levels, const char *name) {
    int64_t pixels = image->patch_dim / 3;
    assert_int_equal(levels->bytes, image->grid[0] * image->grid[1] * image->grid[2] * image->patch_dim);
    for (int64_t i = 0; i < levels->bytes; i++) {
        int64_t channel = i / pixels % 3;
        float expected;
        memcpy(&expected, (const char *)table->data + (channel * 256 + ((const uint8_t *)levels->data)[i]) * 4, 4);
        if (memcmp(&expected, &image->pixel_values[i], sizeof expected) != 0) {
            fail_msg("%s: value %ld is %.9g, expected %.9g", name, (long)i, (double)image->pixel_values[i],
                     (double)expected);
        }
    }
}

static const struct graft_tensor_view *find(const char *prefix, const char *name, const char *suffix) {
    char tensor[128];
    (void)snprintf(tensor, sizeof tensor, "%s%s%s", prefix, name, suffix);
    return graft_safetensors_find(golden, tensor);
}

/* Processes the picture `name` with processor number `i`. */
static void check_image(size_t i, const char *name) {
    struct graft_error error = graft_error_none();
    struct graft_pixels pixels;
    struct graft_image image;
    char *file = graft_path_join(folder, name);
    int status = graft_pixels_read(file, &pixels, &error);
    if (status == GRAFT_OK) {
        status = graft_process_pixels(&configs[i], &pixels, file, &image, &error);
    }
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    assert_memory_equal(find(prefixes[i], name, ".grid")->data, image.grid, sizeof image.grid);
    assert_levels(&image, find(prefixes[i], "table", ""), find(prefixes[i], name, ".levels"), name);
    graft_free((void *)(uintptr_t)image.pixel_values);
    graft_pixels_finish(&pixels);
    graft_free(file);
}

/* Processes every NAME.levels of the file. */
static void test_images(void **state) {
    int images = 0;
    (void)state;
    for (size_t i = 0; i < graft_safetensors_count(golden); i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s", graft_safetensors_at(golden, i)->name);
        char *suffix = strstr(name, ".levels");
        if (suffix != NULL) {
            *suffix = '\0';
            size_t of = 0;
            for (size_t k = 0; k < N_PROCESSORS; k++) {
                if (strncmp(name, prefixes[k], strlen(prefixes[k])) == 0 &&
                    strlen(prefixes[k]) > strlen(prefixes[of])) {
                    of = k;
                }
            }
            check_image(of, name + strlen(prefixes[of]));
            images++;
        }
    }
    assert_int_equal(images, 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
