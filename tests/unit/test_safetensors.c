/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "tensor_file.h"

#define KNOWN                                                                                            \
    "expected C64, F64, F32, F16, BF16, an F8_..., F6_... or F4 of the format, I64 to I8, U64 to U8 or " \
    "BOOL"

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

static struct graft_safetensors *open_file(const char *path) {
    struct graft_safetensors *file = NULL;
    struct graft_error error = graft_error_none();
    if (graft_safetensors_open(path, &file, &error) != GRAFT_OK) {
        print_message("%s: %s\n", error.source, error.message);
    }
    assert_non_null(file);
    return file;
}

static void assert_opens(const char *header, size_t data_bytes) {
    tensor_file_put(folder, "f", header, data_bytes);
    graft_safetensors_close(open_file(folder_path(folder, "f")));
}

/* Expects the file "f" to be refused with these words. */
static void assert_file_refused(const char *words) {
    struct graft_safetensors *file = NULL;
    struct graft_error error = graft_error_none();
    const char *path = folder_path(folder, "f");
    assert_int_equal(graft_safetensors_open(path, &file, &error), GRAFT_ERROR_MODEL);
    assert_null(file);
    assert_string_equal(error.source, path);
    assert_string_equal(error.message, words);
}

static void assert_refused(const char *header, size_t data_bytes, const char *words) {
    tensor_file_put(folder, "f", header, data_bytes);
    assert_file_refused(words);
}

static void test_views(void **state) {
    (void)state;
    /* Tensors in another order than their data, misaligned types, an empty tensor in the middle and at the end, a
     * scalar. */
    tensor_file_put(folder, "f",
                    "{\"z\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                    "\"__metadata__\":{\"format\":\"pt\",\"x\":\"\\u0000\"},"
                    "\"b\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[7,11],\"unknown\":[1]},"
                    "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[3,7]},"
                    "\"e\":{\"dtype\":\"F32\",\"shape\":[0,9],\"data_offsets\":[3,3]},"
                    "\"\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[11,11]}}  ",
                    11);
    struct graft_safetensors *file = open_file(folder_path(folder, "f"));
    assert_int_equal(graft_safetensors_count(file), 5);
    static const char *const names[] = {"", "a", "b", "e", "z"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(graft_safetensors_at(file, i)->name, names[i]);
        assert_ptr_equal(graft_safetensors_find(file, names[i]), graft_safetensors_at(file, i));
    }
    assert_null(graft_safetensors_find(file, "c"));
    assert_null(graft_safetensors_find(file, "__metadata__"));
    const struct graft_tensor_view *b = graft_safetensors_find(file, "b");
    assert_int_equal(b->dtype, GRAFT_DTYPE_BF16);
    assert_int_equal(b->rank, 2);
    assert_int_equal(b->shape[0], 2);
    assert_int_equal(b->shape[1], 1);
    assert_int_equal(b->shape[GRAFT_MAX_RANK - 1], 1);
    assert_int_equal(b->bytes, 4);
    assert_memory_equal(b->data, "\7\10\11\12", 4);
    assert_string_equal(b->file, folder_path(folder, "f"));
    const struct graft_tensor_view *a = graft_safetensors_find(file, "a");
    assert_int_equal(a->rank, 0);
    assert_int_equal(a->shape[0], 1);
    assert_memory_equal(a->data, "\3\4\5\6", 4);
    const graft_json *metadata = graft_safetensors_metadata(file);
    size_t length;
    assert_int_equal(graft_json_size(metadata), 2);
    assert_string_equal(graft_json_string(graft_json_get(metadata, "format"), NULL), "pt");
    assert_memory_equal(graft_json_string(graft_json_get(metadata, "x"), &length), "", 1);
    assert_int_equal(length, 1);
    graft_safetensors_close(file);
    graft_safetensors_close(NULL);
}

static void test_types(void **state) {
    (void)state;
    for (graft_dtype dtype = GRAFT_DTYPE_F64; dtype <= GRAFT_DTYPE_F8_E8M0; dtype++) {
        char header[128];
        int size = (int)graft_dtype_size(dtype);
        (void)snprintf(header, sizeof header, "{\"t\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%d]}}",
                       graft_dtype_name(dtype), 2 * size);
        tensor_file_put(folder, "f", header, 2 * (size_t)size);
        struct graft_safetensors *file = open_file(folder_path(folder, "f"));
        assert_int_equal(graft_safetensors_at(file, 0)->dtype, dtype);
        graft_safetensors_close(file);
    }
}

/* Types that nothing computes with: eight elements each. */
static void test_kept_types(void **state) {
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"C64", 64}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char header[128], words[128];
        (void)snprintf(header, sizeof header, "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%d]}}",
                       types[i].name, types[i].bytes);
        tensor_file_put(folder, "f", header, (size_t)types[i].bytes);
        struct graft_safetensors *file = open_file(folder_path(folder, "f"));
        const struct graft_tensor_view *view = graft_safetensors_at(file, 0);
        assert_int_equal(view->bytes, types[i].bytes);
        assert_string_equal(graft_stored_dtype_name(view->dtype), types[i].name);
        assert_int_equal(graft_stored_dtype_bits(view->dtype), types[i].bytes);
        assert_int_equal(graft_dtype_size(view->dtype), 0);
        graft_safetensors_close(file);
        (void)snprintf(header, sizeof header, "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,1]}}",
                       types[i].name);
        (void)snprintf(words, sizeof words,
                       "tensor \"t\": data_offsets hold 1 bytes, expected %d by dtype %s and shape", types[i].bytes,
                       types[i].name);
        assert_refused(header, 1, words);
    }
}

/* Equal to the official implementation's result, without sharing bytes. */
static void test_ends_in_a_byte(void **state) {
    static const char *const shapes[] = {"\"F4\",\"shape\":[3]", "\"F4\",\"shape\":[]", "\"F6_E2M3\",\"shape\":[2,3]",
                                         "\"F6_E3M2\",\"shape\":[1]"};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char header[128];
        (void)snprintf(header, sizeof header, "{\"t\":{\"dtype\":%s,\"data_offsets\":[0,2]}}", shapes[i]);
        assert_refused(header, 2, "tensor \"t\": the size that its shape gives is not a whole number of bytes");
    }
    assert_opens("{\"t\":{\"dtype\":\"F4\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0);
    assert_refused("{\"t\":{\"dtype\":\"F4\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": the size that its shape gives overflows");
}

static void test_no_tensors(void **state) {
    (void)state;
    assert_opens("{}", 0);
    assert_opens("{\"__metadata__\":null}", 0);
    tensor_file_put(folder, "f", "{\"__metadata__\":{}}", 0);
    struct graft_safetensors *file = open_file(folder_path(folder, "f"));
    assert_int_equal(graft_safetensors_count(file), 0);
    assert_int_equal(graft_json_size(graft_safetensors_metadata(file)), 0);
    assert_int_equal(graft_safetensors_bytes(file), 8 + 19);
    graft_safetensors_close(file);
}

static void test_length(void **state) {
    (void)state;
    folder_put(folder, "f", "", 0);
    assert_file_refused("has 0 bytes, but a safetensors file has at least 8");
    folder_put(folder, "f", "\2\0\0\0\0\0\0", 7);
    assert_file_refused("has 7 bytes, but a safetensors file has at least 8");
    tensor_file_put_length(folder, "f", 0, "{}", 0, 0);
    assert_file_refused("expected the header to begin with '{'");
    tensor_file_put_length(folder, "f", 3, "{}", 2, 0);
    assert_file_refused("header of 3 bytes, expected at most 100000000 and no more than the file's 2: not a "
                        "safetensors file, or a truncated one");
    tensor_file_put_length(folder, "f", UINT64_MAX, "{}", 2, 0);
    assert_file_refused("header of 18446744073709551615 bytes, expected at most 100000000 and no more than the file's "
                        "2: not a safetensors file, or a truncated one");
    /* A sparse file of the full size. */
    tensor_file_put_length(folder, "f", 100000001, "{}", 2, 0);
    assert_int_equal(truncate(folder_path(folder, "f"), 100000009), 0);
    assert_file_refused("header of 100000001 bytes, expected at most 100000000 and no more than the file's 100000001: "
                        "not a safetensors file, or a truncated one");
}

static void test_header_text(void **state) {
    (void)state;
    assert_refused(" {}", 0, "expected the header to begin with '{'");
    assert_refused("[]", 0, "expected the header to begin with '{'");
    assert_refused("{", 0, "not valid JSON, line 1 column 1: string or '}' expected near end of file");
    assert_refused("{}x", 0, "not valid JSON, line 1 column 3: end of file expected near 'x'");
    assert_refused("{\"\xFF\":1}", 0, "not valid JSON, line 1 column 2: unable to decode byte 0xff near '\"'");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                   "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                   0, "not valid JSON, line 1 column 56: duplicate object key near '\"a\"'");
    assert_refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0,
                   "not valid JSON, line 1 column 33: duplicate object key near '\"__metadata__\"'");
}

static void test_metadata(void **state) {
    (void)state;
    assert_refused("{\"__metadata__\":[]}", 0, "expected __metadata__ to be an object, found an array");
    assert_refused("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__: expected \"a\" to be a string, found an integer");
}

static void test_entry(void **state) {
    (void)state;
    assert_refused("{\"t\":1}", 0, "tensor \"t\": expected an object, found an integer");
    assert_refused("{\"t\\n\":1}", 0, "tensor \"t?\": expected an object, found an integer");
    assert_refused("{\"t\":{\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected dtype to be a string, found nothing");
    assert_refused("{\"t\":{\"dtype\":\"F6\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": dtype \"F6\" is unknown, " KNOWN);
    assert_refused("{\"t\":{\"dtype\":\"U8\\u0000\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": dtype contains a NUL character");
    assert_refused("{\"t\":{\"dtype\":\"none\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": dtype \"none\" is unknown, " KNOWN);
}

static void test_shape(void **state) {
    (void)state;
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected shape to be an array, found nothing");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected shape to be an array, found an object");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[0,-1],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected dimension 1 of shape to be an integer of at least 0, found less");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[0.0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected dimension 0 of shape to be an integer of at least 0, found a real number");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[18446744073709551616],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": expected dimension 0 of shape to be an integer of at least 0, found a real number");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
                   "tensor \"t\": shape has 9 dimensions, expected at most 8");
    assert_refused("{\"t\":{\"dtype\":\"F64\",\"shape\":[1152921504606846976],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": the size that its shape gives overflows");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296,0],\"data_offsets\":[0,0]}}", 0,
                   "tensor \"t\": the size that its shape gives overflows");
    assert_opens("{\"t\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,2],\"data_offsets\":[0,2]}}", 2);
}

static void test_offsets(void **state) {
    (void)state;
    static const char *const bad[] = {
        "[0]", "[0,4,4]", "[-1,3]", "[0,4.0]", "\"0,4\"", "{}", "[0,18446744073709551616]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char header[128];
        (void)snprintf(header, sizeof header, "{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":%s}}", bad[i]);
        assert_refused(header, 4, "tensor \"t\": expected data_offsets to be two integers of at least 0");
    }
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4,
                   "tensor \"t\": expected data_offsets to be two integers of at least 0");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,0]}}", 4,
                   "tensor \"t\": data_offsets [4, 0] are not a range of the file's 4 bytes of data");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 3,
                   "tensor \"t\": data_offsets [0, 4] are not a range of the file's 3 bytes of data");
    assert_refused(
        "{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[9223372036854775807,9223372036854775807]}}", 4,
        "tensor \"t\": data_offsets [9223372036854775807, 9223372036854775807] are not a range of the file's 4 "
        "bytes of data");
    assert_refused("{\"t\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
                   "tensor \"t\": data_offsets hold 4 bytes, expected 8 by dtype F16 and shape");
}

static void test_cover(void **state) {
    (void)state;
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3,
                   "tensor \"t\": data_offsets begin at 1, expected 0: a hole");
    assert_refused("{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 3,
                   "the tensors have 2 bytes, the file has 3");
    assert_refused("{}", 1, "the tensors have 0 bytes, the file has 1");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]}}",
                   5, "tensor \"b\": data_offsets begin at 3, expected 2: a hole");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
                   3, "tensor \"b\": data_offsets begin at 1, expected 2: another tensor's bytes");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]}}",
                   2, "tensor \"b\": data_offsets begin at 1, expected 2: another tensor's bytes");
}

static void test_special_file(void **state) {
    (void)state;
    assert_int_equal(mkfifo(folder_path(folder, "f"), 0600), 0);
    assert_file_refused("expected a regular file, found a FIFO");
}

/* A file that torch wrote. */
static void test_real(void **state) {
    (void)state;
    const char *data = getenv("GRAFT_TEST_DATA");
    const char *path = folder_path(data != NULL ? data : ".", "goldens/plain/llama/model.safetensors");
    if (access(path, R_OK) != 0) {
        skip();
    }
    struct graft_safetensors *file = open_file(path);
    int64_t bytes = 0;
    for (size_t i = 0; i < graft_safetensors_count(file); i++) {
        bytes += graft_safetensors_at(file, i)->bytes;
    }
    assert_true(bytes > 0 && bytes < graft_safetensors_bytes(file));
    assert_non_null(graft_safetensors_find(file, "model.layers.0.self_attn.q_proj.weight"));
    assert_string_equal(graft_json_string(graft_json_get(graft_safetensors_metadata(file), "format"), NULL), "pt");
    graft_safetensors_close(file);
}

/* A header gives the same in every form: with an unknown member it is read by the slower parser. */
static void test_forms(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{\"__metadata__\":{\"k\":\"v\"},\"b\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[1,3]},"
        "\"a\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]}}",
        "{ \"a\" : { \"data_offsets\" : [ 0 ,1 ],\n\t\"shape\" : [ ] , \"dtype\" : \"I8\" } ,\r\n\"b\": {\"dtype\": "
        "\"U8\", "
        "\"shape\": [2, 1], \"data_offsets\": [1, 3]}, \"__metadata__\": { \"k\" : \"v\" } } \n",
        "{\"b\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[1,3],\"new\":[{}]},"
        "\"\\u0061\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__\":{\"k\":\"\\u0076\"}}",
        "{\"a\":{\"\\u0064type\":\"\\u00498\",\"shape\":[],\"data_offsets\":[-0,1]},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[1,3]},\"__metadata__\":{\"k\":\"v\"}}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        tensor_file_put(folder, "f", headers[i], 3);
        struct graft_safetensors *file = open_file(folder_path(folder, "f"));
        assert_int_equal(graft_safetensors_count(file), 2);
        const struct graft_tensor_view *a = graft_safetensors_at(file, 0), *b = graft_safetensors_at(file, 1);
        assert_string_equal(a->name, "a");
        assert_int_equal(a->dtype, GRAFT_DTYPE_I8);
        assert_int_equal(a->rank, 0);
        assert_int_equal(a->bytes, 1);
        assert_string_equal(b->name, "b");
        assert_int_equal(b->dtype, GRAFT_DTYPE_U8);
        assert_int_equal(b->rank, 2);
        assert_int_equal(b->shape[0], 2);
        assert_int_equal(b->shape[1], 1);
        assert_memory_equal(b->data, "\1\2", 2);
        const graft_json *value = graft_json_get(graft_safetensors_metadata(file), "k");
        assert_string_equal(graft_json_string(value, NULL), "v");
        graft_safetensors_close(file);
    }
}

/* Headers that the quick parser rejects are refused by the slow one, too. */
static void test_forms_refused(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},}",
        "{,\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[01],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1e0]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"shape\":[],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[] \"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]} \"b\":1}",
        "{\"a\n\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__\":{\"k\"}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__\":{\"k\":{\"l\":\"v\"}}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__\":{\"k\":\"v}}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct graft_safetensors *file = NULL;
        tensor_file_put(folder, "f", headers[i], 1);
        if (graft_safetensors_open(folder_path(folder, "f"), &file, NULL) != GRAFT_ERROR_MODEL) {
            fail_msg("%s", headers[i]);
        }
    }
}

static void out_of_memory(const char *header) {
    tensor_file_put(folder, "f", header, 3);
    int failures = 0;
    for (long n = 1;; n++) {
        struct graft_safetensors *file = NULL;
        struct graft_error error = graft_error_none();
        graft_alloc_fail_at(n);
        int status = graft_safetensors_open(folder_path(folder, "f"), &file, &error);
        int fired = graft_alloc_fail_at(0) == 0;
        /* The slow parser may succeed after a failure in the quick one. */
        if (status == GRAFT_OK) {
            assert_int_equal(graft_safetensors_count(file), 1);
            assert_int_equal(graft_json_size(graft_safetensors_metadata(file)), 1);
        } else {
            assert_true(fired);
            assert_int_equal(status, GRAFT_ERROR_INTERNAL);
            assert_string_equal(error.message, "out of memory");
            assert_null(file);
            failures++;
        }
        graft_safetensors_close(file);
        if (!fired) {
            break;
        }
    }
    assert_true(failures > 3);
}

static void test_out_of_memory(void **state) {
    (void)state;
    out_of_memory("{\"__metadata__\":{\"format\":\"pt\"},"
                  "\"t\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}");
    out_of_memory("{\"__metadata__\":{\"format\":\"pt\"},"
                  "\"t\\n\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_views),      WITH_FOLDER(test_types),          WITH_FOLDER(test_no_tensors),
        WITH_FOLDER(test_length),     WITH_FOLDER(test_header_text),    WITH_FOLDER(test_metadata),
        WITH_FOLDER(test_entry),      WITH_FOLDER(test_shape),          WITH_FOLDER(test_offsets),
        WITH_FOLDER(test_cover),      WITH_FOLDER(test_special_file),   cmocka_unit_test(test_real),
        WITH_FOLDER(test_forms),      WITH_FOLDER(test_forms_refused),  WITH_FOLDER(test_out_of_memory),
        WITH_FOLDER(test_kept_types), WITH_FOLDER(test_ends_in_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
