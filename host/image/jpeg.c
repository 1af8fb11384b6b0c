/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes JPEG with libjpeg-turbo. Its errors come back by longjmp, so that variables that must survive it are in
 * struct reading. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/format.h"
#include "image/orientation.h"

enum { MAX_SCANS = 500, MAX_MARKER = 0xffff };

struct reading {
    struct jpeg_error_mgr errors; /* first member: libjpeg sees only this */
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    const char *source;
    struct graft_pixels *pixels;
    struct graft_error *error;
    uint8_t *row; /* [width, 4]: one row of ink */
    int status;
    int32_t orientation;
};

static struct reading *reading_of(j_common_ptr info) {
    return (struct reading *)(void *)info->err;
}

static void on_error(j_common_ptr info) {
    struct reading *reading = reading_of(info);
    char message[JMSG_LENGTH_MAX];
    info->err->format_message(info, message);
    reading->status =
        graft_error_set(reading->error, GRAFT_ERROR_IO, reading->source, "not a valid JPEG file: %s", message);
    longjmp(reading->back, 1);
}

/* Turns the warning of a truncated file, which libjpeg tolerates, into an error: the rest of the image would be
 * grey. */
static void on_message(j_common_ptr info, int level) {
    struct reading *reading = reading_of(info);
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
        reading->status = graft_error_set(reading->error, GRAFT_ERROR_IO, reading->source, "the file is truncated");
        longjmp(reading->back, 1);
    }
}

/* Limits the number of scans: a few bytes for each scan could make libjpeg decode the whole image thousands of
 * times. */
static void on_progress(j_common_ptr info) {
    struct reading *reading = reading_of(info);
    if (((j_decompress_ptr)info)->input_scan_number > MAX_SCANS) {
        reading->status = graft_error_set(reading->error, GRAFT_ERROR_IO, reading->source,
                                          "expected a JPEG file with at most %d scans, got more", MAX_SCANS);
        longjmp(reading->back, 1);
    }
}

static void read_orientation(struct reading *reading, const struct jpeg_decompress_struct *info) {
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/"; /* including the NUL */
    int32_t by_xmp = GRAFT_ORIENTATION_NONE;
    for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
        if (marker->data_length >= 6 && memcmp(marker->data, "Exif\0\0", 6) == 0) {
            int32_t found = graft_exif_orientation(marker->data, marker->data_length);
            reading->orientation = reading->orientation == GRAFT_ORIENTATION_NONE ? found : reading->orientation;
        } else if (marker->data_length >= sizeof xmp && memcmp(marker->data, xmp, sizeof xmp) == 0) {
            by_xmp = graft_xmp_orientation(marker->data + sizeof xmp, marker->data_length - sizeof xmp);
        }
    }
    reading->orientation = reading->orientation == GRAFT_ORIENTATION_NONE ? by_xmp : reading->orientation;
}

/* Converts CMYK, stored inverted as Adobe's programs do, to RGB: (255 - C) (255 - K) / 255, rounded. */
static void ink_to_rgb(const uint8_t *ink, int64_t width, uint8_t *rgb) {
    for (int64_t x = 0; x < width; x++) {
        int32_t light = ink[x * 4 + 3];
        for (int64_t c = 0; c < 3; c++) {
            int32_t taken = light * (255 - ink[x * 4 + c]) + 128;
            int32_t value = light - ((taken + (taken >> 8)) >> 8);
            rgb[x * 3 + c] = (uint8_t)(value > 0 ? value : 0);
        }
    }
}

static void read_image(struct reading *reading, struct jpeg_decompress_struct *info, const uint8_t *bytes,
                       size_t length) {
    struct graft_pixels *pixels = reading->pixels;
    jpeg_mem_src(info, bytes, length);
    jpeg_save_markers(info, JPEG_APP0 + 1, MAX_MARKER);
    (void)jpeg_read_header(info, TRUE);
    reading->status = graft_pixels_init(pixels, info->image_width, info->image_height, reading->source, reading->error);
    if (reading->status != GRAFT_OK) {
        return;
    }
    int has_ink = info->num_components == 4;
    info->out_color_space = has_ink ? JCS_CMYK : JCS_RGB;
    info->dct_method = JDCT_ISLOW;
    if (has_ink) {
        reading->row = graft_alloc((size_t)pixels->width, 4);
        if (reading->row == NULL) {
            reading->status = graft_fail_memory(reading->error, reading->source);
            return;
        }
    }
    (void)jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
        uint8_t *to = pixels->rgb + (int64_t)info->output_scanline * pixels->width * 3;
        JSAMPROW row = has_ink ? reading->row : to;
        if (jpeg_read_scanlines(info, &row, 1) == 1 && has_ink) {
            ink_to_rgb(reading->row, pixels->width, to);
        }
    }
    read_orientation(reading, info);
}

static void guarded(struct reading *reading, struct jpeg_decompress_struct *info, const uint8_t *bytes, size_t length) {
    if (setjmp(reading->back) == 0) {
        jpeg_create_decompress(info);
        info->progress = &reading->progress;
        read_image(reading, info, bytes, length);
    }
}

int graft_jpeg_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                      int32_t *orientation, struct graft_error *error) {
    struct reading reading = {.source = source, .pixels = pixels, .error = error};
    struct jpeg_decompress_struct info;
    memset(&info, 0, sizeof info);
    info.err = jpeg_std_error(&reading.errors);
    reading.errors.error_exit = on_error;
    reading.errors.emit_message = on_message;
    reading.progress.progress_monitor = on_progress;
    guarded(&reading, &info, bytes, length);
    jpeg_destroy_decompress(&info);
    graft_free(reading.row);
    *orientation = reading.orientation;
    return reading.status;
}
