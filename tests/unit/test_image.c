/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that goldens do not cover: images encoded here with the same libraries, and sizes at their limits. */
#include "image/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <png.h>

#include "image/orientation.h"
#include "image/smart_resize.h"

enum { WIDTH = 11, HEIGHT = 9, MAX_BYTES = 1 << 16 };

struct bytes {
    uint8_t data[MAX_BYTES];
    size_t length;
};

static void append(png_structp png, png_bytep data, size_t length) {
    struct bytes *bytes = png_get_io_ptr(png);
    assert_true(bytes->length + length <= MAX_BYTES);
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

/* A PNG of WIDTH x HEIGHT whose rows are `rows`, `stride` bytes apart. */
static void encode(struct bytes *bytes, int type, int depth, int interlace, const uint8_t *rows, size_t stride) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    bytes->length = 0;
    png_set_write_fn(png, bytes, append, NULL);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < HEIGHT; y++) {
            png_write_row(png, rows + y * stride);
        }
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

static void decode(const struct bytes *bytes, struct graft_pixels *pixels) {
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_pixels_decode(bytes->data, bytes->length, "test", pixels, &error), GRAFT_OK);
    assert_int_equal(pixels->width, WIDTH);
    assert_int_equal(pixels->height, HEIGHT);
}

static void test_interlaced(void **state) {
    static struct bytes bytes;
    uint8_t rows[HEIGHT * WIDTH * 3];
    struct graft_pixels pixels;
    (void)state;
    for (size_t i = 0; i < sizeof rows; i++) {
        rows[i] = (uint8_t)(i * 37);
    }
    encode(&bytes, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7, rows, (size_t)WIDTH * 3);
    decode(&bytes, &pixels);
    assert_memory_equal(pixels.rgb, rows, sizeof rows);
    graft_pixels_finish(&pixels);
}

/* 16-bit channels keep their upper byte, in grey and in colour. */
static void test_sixteen_bits(void **state) {
    static struct bytes bytes;
    uint8_t rows[HEIGHT * WIDTH * 2];
    struct graft_pixels pixels;
    (void)state;
    for (size_t i = 0; i < sizeof rows; i++) {
        rows[i] = (uint8_t)(i * 59);
    }
    encode(&bytes, PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_NONE, rows, (size_t)WIDTH * 2);
    decode(&bytes, &pixels);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        const uint8_t grey[] = {rows[i * 2], rows[i * 2], rows[i * 2]};
        assert_memory_equal(pixels.rgb + i * 3, grey, 3);
    }
    graft_pixels_finish(&pixels);
}

/* A file that is cut short anywhere is an error with a message. */
static void test_truncated(void **state) {
    static struct bytes bytes;
    uint8_t rows[HEIGHT * WIDTH * 3] = {1, 2, 3};
    (void)state;
    encode(&bytes, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7, rows, (size_t)WIDTH * 3);
    for (size_t length = 0; length < bytes.length; length++) {
        struct graft_error error = graft_error_none();
        struct graft_pixels pixels;
        assert_int_equal(graft_pixels_decode(bytes.data, length, "test", &pixels, &error), GRAFT_ERROR_IO);
        assert_true(error.message[0] != '\0' && pixels.rgb == NULL);
    }
}

static void test_bounds(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_pixels pixels;
    (void)state;
    assert_int_equal(graft_pixels_init(&pixels, 0, 1, "test", NULL), GRAFT_ERROR_IO);
    assert_int_equal(graft_pixels_init(&pixels, INT64_MAX, INT64_MAX, "test", NULL), GRAFT_ERROR_IO);
    assert_int_equal(graft_pixels_init(&pixels, GRAFT_MAX_PIXELS, 2, "test", &error), GRAFT_ERROR_IO);
    assert_non_null(strstr(error.message, "89478485 x 2 pixels"));
}

/* Both byte orders, the older doubled marker, and blocks that end early or have wrong counts. */
static void test_exif(void **state) {
    static const uint8_t little[] = "Exif\0\0Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
    static const uint8_t big[] = "MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
    static const uint8_t far[] = "MM\0\x2a\xff\xff\xff\xf0\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
    static const uint8_t many[] = "MM\0\x2a\0\0\0\x08\xff\xff\x01\x13\0\x03\0\0\0\x01\0\x08\0\0";
    static const char xmp[] = "<rdf tiff:Orientation=\"3\"/>", element[] = "<tiff:Orientation>7</tiff:Orientation>";
    (void)state;
    assert_int_equal(graft_exif_orientation(little, sizeof little - 1), 6);
    assert_int_equal(graft_exif_orientation(big, sizeof big - 1), 8);
    assert_int_equal(graft_exif_orientation(far, sizeof far - 1), GRAFT_ORIENTATION_NONE);
    assert_int_equal(graft_exif_orientation(many, sizeof many - 1), GRAFT_ORIENTATION_NONE);
    for (size_t length = 0; length < 18; length++) {
        assert_int_equal(graft_exif_orientation(big, length), GRAFT_ORIENTATION_NONE);
    }
    assert_int_equal(graft_xmp_orientation((const uint8_t *)xmp, sizeof xmp - 1), 3);
    assert_int_equal(graft_xmp_orientation((const uint8_t *)element, sizeof element - 1), 7);
    assert_int_equal(graft_xmp_orientation((const uint8_t *)element, 18), GRAFT_ORIENTATION_NONE);
}

/* Sizes of the published processor, as the reference computes them. */
static void test_smart_resize(void **state) {
    static const struct {
        int64_t in[2];
        int64_t out[2];
    } cases[] = {
        {{56, 56}, {56, 56}},  {{84, 56}, {84, 56}},    {{1, 1}, {56, 56}},          {{14, 14}, {56, 56}},
        {{42, 70}, {56, 56}},  {{98, 98}, {112, 112}},  {{1080, 1920}, {728, 1316}}, {{3000, 3000}, {980, 980}},
        {{200, 1}, {812, 28}}, {{10, 1999}, {28, 812}}, {{77, 4000}, {84, 4004}},    {{5000, 31}, {5012, 28}},
    };
    static const struct smart_bounds bounds = {28, 56 * 56, 28 * 28 * 1280, 0, 0};
    struct graft_error error = graft_error_none();
    struct smart_size size;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(graft_smart_resize(cases[i].in[0], cases[i].in[1], &bounds, "test", &size, &error), GRAFT_OK);
        assert_int_equal(size.height, cases[i].out[0]);
        assert_int_equal(size.width, cases[i].out[1]);
    }
    assert_int_equal(graft_smart_resize(201, 1, &bounds, "test", &size, &error), GRAFT_ERROR_IO);
    assert_non_null(strstr(error.message, "at most 200 times the other"));
}

/* Frame sizes of Qwen3-VL's video processor, as the reference computes them. */
static void test_counted_resize(void **state) {
    static const struct {
        int64_t in[3]; /* frames, height, width */
        int64_t out[2];
    } cases[] = {
        {{2, 64, 64}, {256, 256}},    {{4, 480, 640}, {384, 512}},   {{16, 480, 640}, {192, 256}},
        {{3, 720, 1280}, {384, 672}}, {{100, 1080, 1920}, {64, 96}}, {{2, 10, 300}, {64, 1408}},
        {{7, 5, 31}, {64, 352}},      {{5, 100, 100}, {192, 192}},   {{2, 20, 20}, {256, 256}},
    };
    struct graft_error error = graft_error_none();
    struct smart_size size;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct smart_bounds bounds = {32, 128 * 32 * 32, 768 * 32 * 32, cases[i].in[0], 2};
        assert_int_equal(graft_smart_resize(cases[i].in[1], cases[i].in[2], &bounds, "test", &size, &error), GRAFT_OK);
        assert_int_equal(size.height, cases[i].out[0]);
        assert_int_equal(size.width, cases[i].out[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interlaced),     cmocka_unit_test(test_sixteen_bits), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_exif),         cmocka_unit_test(test_smart_resize),
        cmocka_unit_test(test_counted_resize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
