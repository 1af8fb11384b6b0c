/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_write.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/file.h"
#include "folder.h"
#include "weights/safetensors.h"

static char folder[64];

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

static const struct graft_tensor_view samples[] = {
    {.name = "bytes", .dtype = GRAFT_DTYPE_U8, .rank = 1, .shape = {3}, .data = "abc", .bytes = 3},
    {.name = "b", .dtype = GRAFT_DTYPE_BF16, .rank = 2, .shape = {1, 2}, .data = "defg", .bytes = 4},
    {.name = "z", .dtype = GRAFT_DTYPE_F64, .rank = 0, .data = "12345678", .bytes = 8},
    {.name = "a\n\"", .dtype = GRAFT_DTYPE_F16, .rank = 1, .shape = {1}, .data = "hi", .bytes = 2},
    {.name = "none", .dtype = GRAFT_DTYPE_F32, .rank = 2, .shape = {5, 0}, .data = "", .bytes = 0},
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static graft_json *metadata_of(const char *key, const char *value) {
    graft_json *metadata = graft_json_new_object();
    assert_int_equal(graft_json_set_take(metadata, key, graft_json_new_string(value)), 0);
    return metadata;
}

static void test_bytes(void **state) {
    (void)state;
    static const char expected[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                   "\"z\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                                   "\"none\":{\"dtype\":\"F32\",\"shape\":[5,0],\"data_offsets\":[8,8]},"
                                   "\"b\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[8,12]},"
                                   "\"a\\n\\\"\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[12,14]},"
                                   "\"bytes\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[14,17]}}";
    const char *path = folder_path(folder, "f");
    graft_json *metadata = metadata_of("format", "pt");
    assert_int_equal(graft_safetensors_write(path, samples, N_SAMPLES, metadata, NULL), GRAFT_OK);
    graft_json_free(metadata);
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(graft_file_read(path, 1000, GRAFT_ERROR_IO, &text, &length, NULL), GRAFT_OK);
    size_t header = (unsigned char)text[0] + 256u * (unsigned char)text[1];
    assert_memory_equal(text + 2, "\0\0\0\0\0\0", 6);
    assert_int_equal(header % 8, 0);
    assert_true(header >= sizeof expected - 1 && header < sizeof expected - 1 + 8);
    assert_memory_equal(text + 8, expected, sizeof expected - 1);
    for (size_t i = sizeof expected - 1; i < header; i++) {
        assert_int_equal(text[8 + i], ' ');
    }
    assert_int_equal(length, 8 + header + 17);
    assert_memory_equal(text + 8 + header, "12345678defghiabc", 17);
    graft_free(text);
}

static void test_round_trip(void **state) {
    (void)state;
    const char *path = folder_path(folder, "f");
    struct graft_safetensors *file = NULL;
    assert_int_equal(graft_safetensors_write(path, samples, N_SAMPLES, NULL, NULL), GRAFT_OK);
    assert_int_equal(graft_safetensors_open(path, &file, NULL), GRAFT_OK);
    assert_null(graft_safetensors_metadata(file));
    assert_int_equal(graft_safetensors_count(file), N_SAMPLES);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct graft_tensor_view *view = graft_safetensors_find(file, samples[i].name);
        assert_non_null(view);
        assert_int_equal(view->dtype, samples[i].dtype);
        assert_int_equal(view->rank, samples[i].rank);
        assert_memory_equal(view->shape, samples[i].shape, (size_t)view->rank * sizeof view->shape[0]);
        assert_int_equal(view->bytes, samples[i].bytes);
        assert_memory_equal(view->data, samples[i].data, (size_t)view->bytes);
        assert_int_equal((uintptr_t)view->data % (uintptr_t)graft_dtype_size(view->dtype), 0);
    }
    graft_safetensors_close(file);
}

static void test_nothing(void **state) {
    (void)state;
    const char *path = folder_path(folder, "f");
    struct graft_safetensors *file = NULL;
    assert_int_equal(graft_safetensors_write(path, NULL, 0, NULL, NULL), GRAFT_OK);
    assert_int_equal(graft_safetensors_open(path, &file, NULL), GRAFT_OK);
    assert_int_equal(graft_safetensors_count(file), 0);
    graft_safetensors_close(file);
}

static void assert_refused(const struct graft_tensor_view *tensors, size_t n, const char *words) {
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_safetensors_write(folder_path(folder, "f"), tensors, n, NULL, &error), GRAFT_ERROR_INTERNAL);
    assert_string_equal(error.message, words);
    assert_int_equal(folder_count(folder), 0);
}

static void test_refuses(void **state) {
    (void)state;
    struct graft_tensor_view tensors[] = {samples[0], samples[1], samples[2]};
    tensors[2].name = "bytes";
    assert_refused(tensors, 3, "two tensors are called \"bytes\"");
    tensors[2].name = "__metadata__";
    assert_refused(tensors, 3, "a tensor cannot be called \"__metadata__\"");
    tensors[2].name = "x\xFF";
    assert_refused(tensors, 3, "a tensor cannot be called \"x?\"");
    tensors[2].name = "x";
    tensors[2].bytes = 7;
    assert_refused(tensors, 3, "tensor \"x\": 7 bytes, expected 8 by dtype F64 and shape");
    tensors[2].dtype = GRAFT_DTYPE_NONE;
    tensors[2].bytes = 0;
    assert_refused(tensors, 3, "tensor \"x\": 0 bytes, expected 0 by dtype none and shape");
}

static void test_cannot_write(void **state) {
    (void)state;
    struct graft_error error = graft_error_none();
    const char *path = folder_path(folder, "no/f");
    assert_int_equal(graft_safetensors_write(path, samples, N_SAMPLES, NULL, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.source, path);
}

/* Writes a file of the official implementation again, byte by byte. */
static void test_official_bytes(void **state) {
    (void)state;
    const char *data = getenv("GRAFT_TEST_DATA");
    const char *from = folder_path(data != NULL ? data : ".", "goldens/plain/llama/model.safetensors");
    const char *to = folder_path(folder, "f");
    if (access(from, R_OK) != 0) {
        skip();
    }
    struct graft_safetensors *file = NULL;
    assert_int_equal(graft_safetensors_open(from, &file, NULL), GRAFT_OK);
    /* The views are one array, sorted by name. */
    assert_int_equal(graft_safetensors_write(to, graft_safetensors_at(file, 0), graft_safetensors_count(file),
                                             graft_safetensors_metadata(file), NULL),
                     GRAFT_OK);
    graft_safetensors_close(file);
    char *before = NULL, *after = NULL;
    size_t before_length = 0, after_length = 0;
    assert_int_equal(graft_file_read(from, 10000000, GRAFT_ERROR_IO, &before, &before_length, NULL), GRAFT_OK);
    assert_int_equal(graft_file_read(to, 10000000, GRAFT_ERROR_IO, &after, &after_length, NULL), GRAFT_OK);
    assert_int_equal(before_length, after_length);
    assert_memory_equal(before, after, before_length);
    graft_free(before);
    graft_free(after);
}

static void test_out_of_memory(void **state) {
    (void)state;
    graft_json *metadata = metadata_of("k\xFF", "v");
    int failures = 0;
    for (long n = 1;; n++) {
        struct graft_error error = graft_error_none();
        graft_alloc_fail_at(n);
        int status = graft_safetensors_write(folder_path(folder, "f"), samples, N_SAMPLES, metadata, &error);
        if (graft_alloc_fail_at(0) > 0) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
        /* Without memory for the folder's name only the sync of the folder is left out. */
        assert_true(status == GRAFT_ERROR_INTERNAL || status == GRAFT_OK);
        assert_int_equal(folder_count(folder), status == GRAFT_OK);
        failures += status != GRAFT_OK;
    }
    assert_true(failures > 10);
    graft_json_free(metadata);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_bytes),         WITH_FOLDER(test_round_trip),   WITH_FOLDER(test_nothing),
        WITH_FOLDER(test_refuses),       WITH_FOLDER(test_cannot_write), WITH_FOLDER(test_official_bytes),
        WITH_FOLDER(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
