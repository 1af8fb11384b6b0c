/* SPDX-License-Identifier: Apache-2.0 */
/* graft_coded_weight_create: each invalid codec is an error of the right kind, and nothing leaks after a failure. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "coded_fixture.h"
#include "kernels/threads.h"

enum { ROWS = 48, COLUMNS = 64, GROUP = 16, GROUPS = COLUMNS / GROUP };

/* A codec of 4 bits in rows, with zero points; tests change it. */
static void set_rows(struct coded_parts *parts) {
    *parts = (struct coded_parts){.codec = {.struct_size = sizeof parts->codec,
                                            .kind = GRAFT_CODE_UINT,
                                            .bits = 4,
                                            .layout = GRAFT_CODED_ROWS,
                                            .rows = ROWS,
                                            .columns = COLUMNS,
                                            .block_rows = 1,
                                            .group_size = GROUP}};
    const int64_t bytes = COLUMNS / 2, words = ROWS / 8;
    tensor_set(&parts->codes, GRAFT_DTYPE_U8, ROWS, bytes, any_numbers(ROWS * bytes));
    tensor_set(&parts->scales, GRAFT_DTYPE_F16, ROWS, GROUPS, any_scales(GRAFT_DTYPE_F16, (int64_t)ROWS * GROUPS));
    tensor_set(&parts->zeros, GRAFT_DTYPE_I32, words, GROUPS, any_numbers(words * GROUPS * 4));
}

/* The same codec in words along columns or rows, with as many bytes. */
static void set_words(struct coded_parts *parts, int32_t layout) {
    set_rows(parts);
    parts->codec.layout = layout;
    const int is_columns = layout == GRAFT_CODED_COLUMN_WORDS;
    tensor_set(&parts->codes, GRAFT_DTYPE_I32, is_columns ? COLUMNS / 8 : COLUMNS, is_columns ? ROWS : ROWS / 8,
               parts->codes.blocks[0].data);
    tensor_set(&parts->scales, GRAFT_DTYPE_F16, GROUPS, ROWS, parts->scales.blocks[0].data);
    tensor_set(&parts->zeros, GRAFT_DTYPE_I32, GROUPS, ROWS / 8, parts->zeros.blocks[0].data);
}

static void set_index(struct coded_parts *parts) {
    int32_t *group_of = need(COLUMNS * sizeof *group_of);
    for (int32_t i = 0; i < COLUMNS; i++) {
        group_of[i] = i % GROUPS;
    }
    tensor_set(&parts->groups, GRAFT_DTYPE_I32, COLUMNS, 1, group_of);
}

static int create(const struct graft_codec *codec, struct graft_error *error) {
    struct graft_coded_weight *weight = NULL;
    const int status = graft_coded_weight_create(codec, "layer", "order", &weight, error);
    assert_int_equal(weight != NULL, status == GRAFT_OK);
    graft_coded_weight_free(weight);
    return status;
}

/* Expects the current codec to be refused with these words. */
static void refused(const struct graft_codec *codec, int status, const char *text) {
    struct graft_error error = graft_error_none();
    assert_int_equal(create(codec, &error), status);
    assert_int_equal(error.code, status);
    if (strstr(error.message, text) == NULL) {
        fail_msg("\"%s\" instead of \"%s\"", error.message, text);
    }
    assert_non_null(strstr(error.source, "layer"));
    assert_int_equal(create(codec, NULL), status);
}

/* Sets a field of a copy of the codec, which must be refused. */
#define WITH(field, value, status, text)                 \
    do {                                                 \
        struct graft_codec wrong = *parts_codec(&parts); \
        wrong.field = (value);                           \
        refused(&wrong, status, text);                   \
    } while (0)

static void test_right(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
    parts_free(&parts);
    for (int32_t layout = GRAFT_CODED_COLUMN_WORDS; layout <= GRAFT_CODED_ROW_WORDS; layout++) {
        set_words(&parts, layout);
        set_index(&parts);
        assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
        parts_free(&parts);
    }
    graft_coded_weight_free(NULL);
}

static void test_kinds(void **state) {
    static const char text[] = "which this host does not multiply";
    static const int32_t bits_of[][2] = {[GRAFT_CODE_UINT] = {4, 8},
                                         [GRAFT_CODE_INT] = {8, 8},
                                         [GRAFT_CODE_FLOAT8] = {8, 8},
                                         [GRAFT_CODE_FLOAT4] = {4, 4},
                                         [GRAFT_CODE_TABLE] = {4, 4}};
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    WITH(kind, -1, GRAFT_ERROR_PLUGIN, text);
    WITH(kind, 5, GRAFT_ERROR_PLUGIN, text);
    for (int32_t kind = GRAFT_CODE_UINT; kind <= GRAFT_CODE_TABLE; kind++) {
        parts.codec.kind = kind;
        for (int32_t bits = 0; bits <= 16; bits++) {
            if (bits != bits_of[kind][0] && bits != bits_of[kind][1]) {
                WITH(bits, bits, GRAFT_ERROR_PLUGIN, text);
            }
        }
    }
    parts.codec.kind = GRAFT_CODE_UINT;
    WITH(layout, GRAFT_CODED_STRIPS_UPWARDS + 1, GRAFT_ERROR_PLUGIN, text);
    WITH(layout, -1, GRAFT_ERROR_PLUGIN, text);
    WITH(codes, NULL, GRAFT_ERROR_PLUGIN, text);
    WITH(scales, NULL, GRAFT_ERROR_PLUGIN, text);
    WITH(input_bits, 4, GRAFT_ERROR_PLUGIN, text);
    parts.codec.kind = GRAFT_CODE_TABLE;
    WITH(table, NULL, GRAFT_ERROR_PLUGIN, text);
    parts_free(&parts);
}

static void test_words(void **state) {
    static const char text[] = "which this host does not multiply";
    struct coded_parts parts;
    (void)state;
    for (int32_t layout = GRAFT_CODED_COLUMN_WORDS; layout <= GRAFT_CODED_ROW_WORDS; layout++) {
        set_words(&parts, layout);
        WITH(kind, GRAFT_CODE_FLOAT4, GRAFT_ERROR_PLUGIN, text);
        WITH(by_turns, 2, GRAFT_ERROR_PLUGIN, text);
        WITH(block_rows, 2, GRAFT_ERROR_PLUGIN, text);
        WITH(bits, 1, GRAFT_ERROR_PLUGIN, text);
        WITH(bits, 9, GRAFT_ERROR_PLUGIN, text);
        parts_free(&parts);
    }
    set_words(&parts, GRAFT_CODED_ROW_WORDS);
    WITH(bits, 8, GRAFT_ERROR_PLUGIN, text);
    WITH(rows, ROWS - 4, GRAFT_ERROR_MODEL, "44 outputs, expected a multiple of 8");
    tensor_cut(&parts.codes, 8);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "expected one block each, of numbers");
    parts_free(&parts);
    set_words(&parts, GRAFT_CODED_COLUMN_WORDS);
    tensor_cut(&parts.scales, 1);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "expected one block each, of numbers");
    parts_free(&parts);
    set_words(&parts, GRAFT_CODED_COLUMN_WORDS);
    parts.scales.blocks[0].dtype = GRAFT_DTYPE_U8;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "expected one block each, of numbers");
    parts_free(&parts);
}

/* Zero points that codes of the kind cannot have. */
static void test_zero(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    WITH(zero, 17, GRAFT_ERROR_PLUGIN, "of kind 0 and 4 bits with a zero point of 17");
    WITH(zero, -17, GRAFT_ERROR_PLUGIN, "with a zero point of -17");
    WITH(zero, INT32_MIN, GRAFT_ERROR_PLUGIN, "with a zero point of -2147483648");
    parts.codec.kind = GRAFT_CODE_FLOAT4;
    WITH(zero, 1, GRAFT_ERROR_PLUGIN, "of kind 3 and 4 bits with a zero point of 1");
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "expected one block of I32, of unsigned integers");
    parts_free(&parts);
}

static void test_sizes(void **state) {
    static const char text[] = "a codec of ";
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    WITH(rows, 0, GRAFT_ERROR_PLUGIN, text);
    WITH(rows, -ROWS, GRAFT_ERROR_PLUGIN, text);
    WITH(rows, (int64_t)INT32_MAX + 1, GRAFT_ERROR_PLUGIN, text);
    WITH(rows, INT64_MAX, GRAFT_ERROR_PLUGIN, text);
    WITH(columns, 0, GRAFT_ERROR_PLUGIN, text);
    WITH(columns, (int64_t)INT32_MAX + 1, GRAFT_ERROR_PLUGIN, text);
    WITH(block_rows, 0, GRAFT_ERROR_PLUGIN, text);
    WITH(group_size, 0, GRAFT_ERROR_PLUGIN, text);
    WITH(group_size, -1, GRAFT_ERROR_PLUGIN, text);
    WITH(by_turns, -2, GRAFT_ERROR_PLUGIN, text);
    WITH(by_turns, 3, GRAFT_ERROR_PLUGIN, text);
    WITH(by_turns, 10, GRAFT_ERROR_PLUGIN, text);
    WITH(group_size, 7, GRAFT_ERROR_MODEL, "groups of 7 inputs, expected an even number");
    WITH(rows, INT32_MAX, GRAFT_ERROR_PLUGIN, "the codes of a coded weight have 1536 bytes");
    WITH(columns, INT32_MAX, GRAFT_ERROR_PLUGIN, "the codes of a coded weight have 1536 bytes");
    parts_free(&parts);
    set_words(&parts, GRAFT_CODED_COLUMN_WORDS);
    parts.codec.bits = 3; /* these become 4 */
    WITH(group_size, 7, GRAFT_ERROR_MODEL, "groups of 7 inputs, expected an even number");
    parts_free(&parts);
}

static void test_codes(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    parts.codes.blocks[0].rows--;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "the codes of a coded weight have 1504 bytes, expected 1536");
    parts.codes.blocks[0].rows++;
    const void *data = parts.codes.blocks[0].data;
    tensor_set(&parts.codes, GRAFT_DTYPE_U8, 2 * (int64_t)ROWS, COLUMNS / 4, data); /* as arrays have them */
    assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
    tensor_cut(&parts.codes, 6);
    assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
    tensor_set(&parts.codes, GRAFT_DTYPE_U8, 2 * (int64_t)ROWS, COLUMNS / 4, data);
    tensor_cut(&parts.codes, 7);
    refused(parts_codec(&parts), GRAFT_ERROR_MODEL, "codes or scales of a part end inside a row");
    parts_free(&parts);
}

static void test_scales(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    parts.scales.blocks[0].dtype = GRAFT_DTYPE_I32;
    refused(parts_codec(&parts), GRAFT_ERROR_MODEL, "scales of type I32, which no codec supports");
    parts.scales.blocks[0].dtype = GRAFT_DTYPE_F16;
    parts.scales.blocks[0].rows--;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "188 scales of a coded weight, expected 192");
    parts.scales.blocks[0].rows++;
    parts.codec.block_rows = 5;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "192 scales of a coded weight, expected 40");
    parts.codec.block_rows = 1;
    tensor_set(&parts.scales, GRAFT_DTYPE_F16, (int64_t)ROWS * GROUPS, 1, parts.scales.blocks[0].data);
    tensor_cut(&parts.scales, 6);
    refused(parts_codec(&parts), GRAFT_ERROR_MODEL, "codes or scales of a part end inside a row");
    parts_free(&parts);
}

/* The divisors and factors of F8_E4M3 scales. */
static void test_divisor(void **state) {
    static const float wrong_ones[] = {0.0F, -1.0F, INFINITY, NAN};
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    parts.scales.blocks[0].dtype = GRAFT_DTYPE_F8_E4M3;
    for (int i = 0; i < 4; i++) {
        WITH(divisor, wrong_ones[i], GRAFT_ERROR_MODEL, "the number that scales are divided by is ");
        if (i > 0) {
            WITH(factor, wrong_ones[i], GRAFT_ERROR_MODEL, "the number that scales are multiplied by is ");
        }
    }
    parts.codec.divisor = 2.0F;
    assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
    parts.codec.divisor = 0.0F;
    parts.codec.factor = 2.0F;
    assert_int_equal(create(parts_codec(&parts), NULL), GRAFT_OK);
    parts_free(&parts);
}

static void test_zeros(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    parts.zeros.blocks[0].rows++;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "the zero points of a coded weight have 112 bytes, expected 96");
    parts.zeros.blocks[0].rows--;
    parts.zeros.blocks[0].dtype = GRAFT_DTYPE_U32;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "in 1 blocks, expected one block of I32");
    parts.zeros.blocks[0].dtype = GRAFT_DTYPE_F32;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "24 zero points of a coded weight, expected 192");
    parts.zeros.blocks[0].dtype = GRAFT_DTYPE_I32;
    tensor_cut(&parts.zeros, 2);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "in 2 blocks, expected one block of I32");
    parts_free(&parts);
}

/* Zero points that are numbers, of codes in rows. */
static void set_zero_numbers(struct coded_parts *parts) {
    tensor_free(&parts->zeros);
    tensor_set(&parts->zeros, GRAFT_DTYPE_BF16, ROWS, GROUPS, any_scales(GRAFT_DTYPE_BF16, (int64_t)ROWS * GROUPS));
}

static void test_zero_numbers(void **state) {
    static const char text[] = "zero points that are numbers: expected one block of them";
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    set_zero_numbers(&parts);
    graft_coded_weight_free(coded_create(parts_codec(&parts)));
    WITH(zero, 1, GRAFT_ERROR_PLUGIN, text);
    tensor_cut(&parts.zeros, 2);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, text);
    parts_free(&parts);
    set_words(&parts, GRAFT_CODED_COLUMN_WORDS);
    set_zero_numbers(&parts);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, text);
    parts_free(&parts);
}

static void test_strips(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    set_zero_numbers(&parts);
    parts.codec.layout = GRAFT_CODED_STRIPS;
    graft_coded_weight_free(coded_create(parts_codec(&parts)));
    WITH(kind, GRAFT_CODE_TABLE, GRAFT_ERROR_PLUGIN, "which this host does not multiply");
    WITH(bits, 5, GRAFT_ERROR_PLUGIN, "which this host does not multiply");
    WITH(bits, 2, GRAFT_ERROR_PLUGIN, "the codes of a coded weight have 1536 bytes, expected 768");
    WITH(bits, 3, GRAFT_ERROR_PLUGIN, "the codes of a coded weight have 1536 bytes, expected 1280");
    WITH(block_rows, 2, GRAFT_ERROR_PLUGIN, "192 scales of a coded weight, expected 96");
    WITH(by_turns, 2, GRAFT_ERROR_PLUGIN, "which this host does not multiply");
    WITH(group_size, 24, GRAFT_ERROR_MODEL,
         "groups of 24 inputs, expected a number that divides the 64 inputs of the module");
    set_index(&parts);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "which this host does not multiply");
    tensor_free(&parts.groups);
    tensor_cut(&parts.codes, 2);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "codes in strips: expected one block, got 2");
    parts_free(&parts);
    set_rows(&parts);
    parts.codec.layout = GRAFT_CODED_STRIPS_UPWARDS;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "expected one block of I32, of unsigned integers");
    WITH(bits, 3, GRAFT_ERROR_PLUGIN, "which this host does not multiply");
    parts_free(&parts);
}

static void test_groups(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    set_index(&parts);
    int32_t *group_of = (int32_t *)(uintptr_t)parts.groups.blocks[0].data;
    group_of[7] = GROUPS;
    refused(parts_codec(&parts), GRAFT_ERROR_MODEL, "order: element 7 is 4, expected a group, 0 to 3");
    group_of[7] = -1;
    refused(parts_codec(&parts), GRAFT_ERROR_MODEL, "order: element 7 is -1, expected a group, 0 to 3");
    group_of[7] = 0;
    parts.groups.blocks[0].rows--;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "the groups of a coded weight have 252 bytes, expected 256");
    parts.groups.blocks[0].rows++;
    parts.groups.blocks[0].dtype = GRAFT_DTYPE_U32;
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "the groups of columns are not one block of I32");
    parts.groups.blocks[0].dtype = GRAFT_DTYPE_I32;
    tensor_cut(&parts.groups, 3);
    refused(parts_codec(&parts), GRAFT_ERROR_PLUGIN, "the groups of columns are not one block of I32");
    parts_free(&parts);
}

/* Groups that end inside a byte, with an index that only repeats the order. */
static void test_odd_groups(void **state) {
    enum { SIZE = 3, N = (COLUMNS + SIZE - 1) / SIZE };
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    tensor_free(&parts.scales);
    tensor_free(&parts.zeros);
    set_index(&parts);
    parts.codec.group_size = SIZE;
    parts.codec.zero = 8;
    tensor_set(&parts.scales, GRAFT_DTYPE_F32, ROWS, N, any_scales(GRAFT_DTYPE_F32, (int64_t)ROWS * N));
    int32_t *group_of = (int32_t *)(uintptr_t)parts.groups.blocks[0].data;
    for (int32_t i = 0; i < COLUMNS; i++) {
        group_of[i] = i / SIZE;
    }
    struct graft_coded_weight *weight = coded_create(parts_codec(&parts));
    float rows[ROWS * COLUMNS];
    weight->codec.read_rows(&weight->weight, 0, ROWS, rows);
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        const unsigned char *codes = parts.codes.blocks[0].data;
        const float *scales = parts.scales.blocks[0].data;
        const int code = codes[i / 2] >> (i % 2 * 4) & 15;
        assert_true(rows[i] == scales[i / COLUMNS * N + i % COLUMNS / SIZE] * (float)(code - 8));
    }
    graft_coded_weight_free(weight);
    parts_free(&parts);
}

/* Each allocation fails in turn. */
static void test_memory(void **state) {
    (void)state;
    for (int32_t layout = GRAFT_CODED_ROWS; layout <= GRAFT_CODED_STRIPS; layout++) {
        struct coded_parts parts;
        long left = 0, n = 0;
        if (layout == GRAFT_CODED_ROWS || layout == GRAFT_CODED_STRIPS) {
            set_rows(&parts);
        } else {
            set_words(&parts, layout);
        }
        if (layout == GRAFT_CODED_STRIPS) {
            set_zero_numbers(&parts);
            parts.codec.layout = layout;
        }
        const struct graft_codec *codec = parts_codec(&parts);
        while (left == 0) {
            struct graft_error error = graft_error_none();
            (void)graft_alloc_fail_at(++n);
            const int status = create(codec, &error);
            left = graft_alloc_fail_at(0);
            assert_int_equal(status, left == 0 ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        }
        assert_true(n > 2);
        parts_free(&parts);
    }
}

/* A codec of a plugin that was built with fewer fields: the others are 0. */
static void test_smaller(void **state) {
    struct coded_parts parts;
    (void)state;
    set_rows(&parts);
    struct graft_codec codec = *parts_codec(&parts);
    codec.read_rows = NULL;
    codec.struct_size = offsetof(struct graft_codec, read_rows);
    struct graft_coded_weight *weight = coded_create(&codec);
    assert_int_equal(weight->codec.struct_size, sizeof codec);
    assert_non_null(weight->codec.read_rows);
    assert_ptr_equal(weight->weight.codec, &weight->codec);
    graft_coded_weight_free(weight);
    parts_free(&parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),   cmocka_unit_test(test_kinds),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_zero),    cmocka_unit_test(test_sizes),        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_scales),  cmocka_unit_test(test_divisor),      cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_odd_groups),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_smaller), cmocka_unit_test(test_zero_numbers), cmocka_unit_test(test_strips),
    };
    graft_threads_set_count(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
