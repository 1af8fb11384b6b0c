/* SPDX-License-Identifier: Apache-2.0 */
/* Images: decoded, turned upright, resized and cut into patches. Inputs that are no image are read as sizes for
 * resizing. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz/target.h"
#include "image/decode.h"
#include "image/orientation.h"
#include "image/processor.h"
#include "image/resize.h"
#include "image/smart_resize.h"

static const struct graft_processor_config config = {
    .do_resize = 1,
    .do_rescale = 1,
    .do_normalize = 1,
    .do_convert_rgb = 1,
    .resample = GRAFT_RESAMPLE_BICUBIC,
    .rescale_factor = 1.0 / 255.0,
    .image_std = {1.0, 1.0, 1.0},
    .min_pixels = 16,
    .max_pixels = 1024,
    .patch_size = 2,
    .temporal_patch_size = 1,
    .merge_size = 2,
};

/* Whether the resized sides fulfil their promises. */
static void check_size(const uint8_t *bytes) {
    struct graft_error error = graft_error_none();
    struct smart_size size;
    uint32_t numbers[6];
    memcpy(numbers, bytes, sizeof numbers);
    int64_t height = numbers[0] % GRAFT_MAX_PIXELS + 1;
    int64_t width = numbers[1] % GRAFT_MAX_PIXELS + 1;
    int64_t factor = numbers[2] % (1024 * 64) + 1;
    int64_t min_pixels = numbers[3] % GRAFT_MAX_PIXELS + 1;
    int64_t max_pixels = numbers[4] % GRAFT_MAX_PIXELS + 1;
    const struct smart_bounds bounds = {factor, min_pixels, max_pixels, numbers[5] % 4096, numbers[5] % 7 + 1};
    if (height * width > GRAFT_MAX_PIXELS ||
        graft_smart_resize(height, width, &bounds, "fuzz", &size, &error) != GRAFT_OK) {
        return;
    }
    if (size.height < factor || size.width < factor || size.height % factor != 0 || size.width % factor != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_pixels pixels;
    struct graft_image image = {0};
    (void)graft_exif_orientation(bytes, size);
    (void)graft_xmp_orientation(bytes, size);
    if (size >= 24) {
        check_size(bytes);
    }
    if (graft_pixels_decode(bytes, size, "fuzz", &pixels, &error) != GRAFT_OK) {
        return error.message[0] != '\0' ? 0 : (abort(), 0);
    }
    int status = graft_process_pixels(&config, &pixels, "fuzz", &image, &error);
    if (status != GRAFT_OK && error.message[0] == '\0') {
        abort();
    }
    graft_free((void *)(uintptr_t)image.pixel_values);
    graft_pixels_finish(&pixels);
    return 0;
}
