/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes PNG with libpng. Its errors come back by longjmp, so that variables that must survive it are in struct
 * reading. */
#include <png.h>
#include <string.h>

#include "base/fail.h"
#include "image/format.h"
#include "image/orientation.h"

struct reading {
    const uint8_t *bytes;
    size_t length;
    size_t at;
    const char *source;
    struct graft_pixels *pixels;
    struct graft_error *error;
    int status;
    int32_t orientation;
};

static void on_error(png_structp png, png_const_charp message) {
    struct reading *reading = png_get_error_ptr(png);
    reading->status =
        graft_error_set(reading->error, GRAFT_ERROR_IO, reading->source, "not a valid PNG file: %s", message);
    png_longjmp(png, 1);
}

/* Ignores warnings, which libpng gives for colour profiles and chunks that it does not accept. */
static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep data, size_t length) {
    struct reading *reading = png_get_io_ptr(png);
    if (length > reading->length - reading->at) {
        png_error(png, "the file is truncated");
    }
    memcpy(data, reading->bytes + reading->at, length);
    reading->at += length;
}

/* Makes libpng convert rows to 8-bit RGB. Alpha and transparent colours are dropped, not blended; of 16 bits the upper
 * 8 are kept. */
static void ask_for_rgb(png_structp png, png_infop info) {
    int colour = png_get_color_type(png, info);
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(png);
    }
    if (colour == PNG_COLOR_TYPE_GRAY) {
        png_set_expand_gray_1_2_4_to_8(png);
    }
    if ((colour & PNG_COLOR_MASK_COLOR) == 0) {
        png_set_gray_to_rgb(png);
    }
    png_set_strip_16(png);
    png_set_strip_alpha(png);
}

/* Reads the colour that a tRNS chunk makes transparent: that of the palette's only entry without alpha, or the one that
 * the chunk names. Other degrees of transparency are dropped, like alpha. */
static void read_key(struct graft_pixels *pixels, png_structp png, png_infop info) {
    png_bytep alphas = NULL;
    png_color_16p named = NULL;
    png_colorp palette = NULL;
    int n = 0, colours = 0, clear = 0, others = 0;
    int type = png_get_color_type(png, info);
    int depth = png_get_bit_depth(png, info);
    if (png_get_tRNS(png, info, &alphas, &n, &named) == 0 || depth > 8) {
        return;
    }
    if (type == PNG_COLOR_TYPE_PALETTE && png_get_PLTE(png, info, &palette, &colours) != 0) {
        for (int i = 0; i < n && i < colours; i++) {
            clear += alphas[i] == 0;
            others += alphas[i] != 0 && alphas[i] != 255;
            if (alphas[i] == 0) {
                memcpy(pixels->key, (uint8_t[]){palette[i].red, palette[i].green, palette[i].blue}, 3);
            }
        }
        pixels->has_key = clear == 1 && others == 0;
    } else if (type == PNG_COLOR_TYPE_RGB) {
        memcpy(pixels->key, (uint8_t[]){(uint8_t)named->red, (uint8_t)named->green, (uint8_t)named->blue}, 3);
        pixels->has_key = 1;
    } else if (type == PNG_COLOR_TYPE_GRAY) {
        memset(pixels->key, named->gray * (255 / ((1 << depth) - 1)), 3);
        pixels->has_key = 1;
    }
}

static void read_orientation(struct reading *reading, png_structp png, png_infop info) {
    png_uint_32 length = 0;
    png_bytep exif = NULL;
    png_textp texts = NULL;
    int n_texts = 0;
    if (png_get_eXIf_1(png, info, &length, &exif) != 0) {
        reading->orientation = graft_exif_orientation(exif, length);
    }
    (void)png_get_text(png, info, &texts, &n_texts);
    for (int i = 0; i < n_texts && reading->orientation == GRAFT_ORIENTATION_NONE; i++) {
        if (strcmp(texts[i].key, "XML:com.adobe.xmp") == 0) {
            reading->orientation = graft_xmp_orientation((const uint8_t *)texts[i].text, strlen(texts[i].text));
        }
    }
}

static void read_image(struct reading *reading, png_structp png, png_infop info) {
    struct graft_pixels *pixels = reading->pixels;
    png_set_read_fn(png, reading, on_read);
    png_set_user_limits(png, GRAFT_MAX_PIXELS, GRAFT_MAX_PIXELS);
    png_read_info(png, info);
    reading->status = graft_pixels_init(pixels, png_get_image_width(png, info), png_get_image_height(png, info),
                                        reading->source, reading->error);
    if (reading->status != GRAFT_OK) {
        return;
    }
    read_key(pixels, png, info);
    ask_for_rgb(png, info);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)pixels->width * 3) {
        png_error(png, "rows have an unexpected length");
    }
    for (int pass = 0; pass < passes; pass++) {
        for (int64_t y = 0; y < pixels->height; y++) {
            png_read_row(png, pixels->rgb + y * pixels->width * 3, NULL);
        }
    }
    png_read_end(png, info);
    read_orientation(reading, png, info);
}

static void guarded(struct reading *reading, png_structp png, png_infop info) {
    if (setjmp(png_jmpbuf(png)) == 0) {
        read_image(reading, png, info);
    }
}

int graft_png_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                     int32_t *orientation, struct graft_error *error) {
    struct reading reading = {.bytes = bytes, .length = length, .source = source, .pixels = pixels, .error = error};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_error, on_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    reading.status = GRAFT_OK;
    if (info != NULL) {
        guarded(&reading, png, info);
    } else {
        reading.status = graft_fail_memory(error, source);
    }
    png_destroy_read_struct(&png, &info, NULL);
    *orientation = reading.orientation;
    return reading.status;
}
