/* SPDX-License-Identifier: Apache-2.0 */
/* preprocessor_config.json, and processor_config.json with such an object: an accepted one can prepare an image. */
#include <stdlib.h>

#include "base/alloc.h"
#include "config/config.h"
#include "fuzz/target.h"
#include "image/processor.h"

static void check(const graft_json *document, int32_t is_video) {
    struct graft_error error = graft_error_none();
    struct graft_processor_config config;
    struct graft_pixels pixels;
    struct graft_image image = {0};
    const struct graft_config view = graft_config_view(document, "fuzz");
    if (graft_processor_config_read(&view, is_video, &config, &error) != GRAFT_OK) {
        if (error.message[0] == '\0') {
            abort();
        }
        return;
    }
    if (config.min_pixels > 1 << 12 || config.patch_size * config.merge_size > 256) {
        return; /* valid, but slow */
    }
    if (graft_pixels_init(&pixels, 24, 8, "fuzz", &error) == GRAFT_OK) {
        if (graft_process_pixels(&config, &pixels, "fuzz", &image, &error) == GRAFT_OK &&
            image.grid[1] % config.merge_size != 0) {
            abort();
        }
        graft_free((void *)(uintptr_t)image.pixel_values);
    }
    graft_pixels_finish(&pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    graft_json *document = NULL;
    if (graft_json_parse((const char *)bytes, size, "fuzz", &document, NULL) != GRAFT_OK) {
        return 0;
    }
    check(document, 0);
    check(document, 1);
    check(graft_json_get(document, "image_processor"), 0);
    graft_json_free(document);
    return 0;
}
