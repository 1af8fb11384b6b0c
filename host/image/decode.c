/* SPDX-License-Identifier: Apache-2.0 */
#include "image/decode.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "image/format.h"
#include "image/orientation.h"

enum { MAX_FILE_BYTES = 1 << 28 };

int graft_pixels_init(struct graft_pixels *pixels, int64_t width, int64_t height, const char *source,
                      struct graft_error *error) {
    *pixels = (struct graft_pixels){.width = width, .height = height};
    if (width < 1 || height < 1 || width > GRAFT_MAX_PIXELS / height) {
        return graft_error_set(error, GRAFT_ERROR_IO, source, "%lld x %lld pixels: expected 1 to %d in all",
                               (long long)width, (long long)height, GRAFT_MAX_PIXELS);
    }
    pixels->rgb = graft_alloc((size_t)(width * height), 3);
    return pixels->rgb != NULL ? GRAFT_OK : graft_fail_memory(error, source);
}

void graft_pixels_finish(struct graft_pixels *pixels) {
    graft_free(pixels->rgb);
    pixels->rgb = NULL;
}

int graft_pixels_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                        struct graft_error *error) {
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t jpeg[] = {0xff, 0xd8, 0xff};
    int32_t orientation = GRAFT_ORIENTATION_UPRIGHT;
    int status;
    *pixels = (struct graft_pixels){0};
    if (length >= sizeof png && memcmp(bytes, png, sizeof png) == 0) {
        status = graft_png_decode(bytes, length, source, pixels, &orientation, error);
    } else if (length >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0) {
        status = graft_jpeg_decode(bytes, length, source, pixels, &orientation, error);
    } else {
        status = graft_error_set(error, GRAFT_ERROR_IO, source, "is neither a PNG nor a JPEG file");
    }
    if (status == GRAFT_OK) {
        status = graft_pixels_turn(pixels, orientation, source, error);
    }
    if (status != GRAFT_OK) {
        graft_pixels_finish(pixels);
    }
    return status;
}

int graft_pixels_read(const char *path, struct graft_pixels *pixels, struct graft_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    *pixels = (struct graft_pixels){0};
    int status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_IO, &bytes, &length, error);
    if (status == GRAFT_OK) {
        status = graft_pixels_decode((const uint8_t *)bytes, length, path, pixels, error);
    }
    graft_free(bytes);
    return status;
}
