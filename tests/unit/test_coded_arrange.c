/* SPDX-License-Identifier: Apache-2.0 */
/* Codes in words along columns (GPTQ) and along rows (AWQ), and in strips (HQQ, Quanto): compares the rows that
 * graft_coded_weight_create makes with simple code that finds each code, zero point and scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coded_fixture.h"
#include "graft/convert.h"
#include "kernels/threads.h"

/* The ways in which columns are assigned to groups. */
enum { NO_INDEX = 0, IN_ORDER = 1, ANY_ORDER = 2 };

/* The ways in which zero points are stored. */
enum { NO_ZEROS = 0, ANY_ZEROS = 1, EQUAL_ZEROS = 2 };

struct size {
    int64_t rows, columns, group_size;
};

static int64_t words_of(int64_t codes, int32_t bits) {
    return (codes * bits + 31) / 32;
}

static int32_t *any_words(int64_t n) {
    return any_numbers(n * (int64_t)sizeof(int32_t));
}

/* Reads bits [first, first + n) of words that are `stride` apart, one by one. */
static int32_t bits_at(const int32_t *words, int64_t stride, int64_t first, int32_t n) {
    int32_t code = 0;
    for (int32_t i = 0; i < n; i++) {
        const int64_t bit = first + i;
        code |= (int32_t)((uint32_t)words[bit / 32 * stride] >> (bit % 32) & 1) << i;
    }
    return code;
}

static int32_t code_at(const struct coded_parts *parts, int64_t row, int64_t column) {
    static const int32_t places[] = {0, 4, 1, 5, 2, 6, 3, 7};
    const struct graft_codec *codec = &parts->codec;
    const int32_t *words = parts->codes.blocks[0].data;
    return codec->layout == GRAFT_CODED_COLUMN_WORDS
               ? bits_at(words + row, codec->rows, column * codec->bits, codec->bits)
               : bits_at(words + column * (codec->rows / 8) + row / 8, 1, places[row % 8] * 4, 4);
}

static int32_t zero_at(const struct coded_parts *parts, int64_t row, int64_t group) {
    static const int32_t places[] = {0, 4, 1, 5, 2, 6, 3, 7};
    const struct graft_codec *codec = &parts->codec;
    const int32_t *words = (const int32_t *)parts->zeros.blocks[0].data + group * words_of(codec->rows, codec->bits);
    return codec->layout == GRAFT_CODED_COLUMN_WORDS ? bits_at(words, 1, row * codec->bits, codec->bits)
                                                     : bits_at(words + row / 8, 1, places[row % 8] * 4, 4);
}

static float scale_at(const struct coded_parts *parts, int64_t row, int64_t group) {
    const struct graft_row_block *block = &parts->scales.blocks[0];
    const int64_t at = group * parts->codec.rows + row;
    switch (block->dtype) {
    case GRAFT_DTYPE_F16:
        return graft_f32_from_f16(((const uint16_t *)block->data)[at]);
    case GRAFT_DTYPE_BF16:
        return graft_f32_from_bf16(((const uint16_t *)block->data)[at]);
    default:
        return ((const float *)block->data)[at];
    }
}

static float formula(const struct coded_parts *parts, int64_t row, int64_t column) {
    const int32_t *index = parts->groups.blocks[0].data;
    const int64_t group = index != NULL ? index[column] : column / parts->codec.group_size;
    int32_t zero = parts->codec.zero;
    zero += parts->zeros.blocks[0].data != NULL ? zero_at(parts, row, group) : 0;
    return scale_at(parts, row, group) * (float)(code_at(parts, row, column) - zero);
}

static void set_groups(struct coded_parts *parts, int index) {
    const int64_t groups = graft_codec_groups(&parts->codec), columns = parts->codec.columns;
    if (index == NO_INDEX) {
        return;
    }
    int32_t *group_of = need((size_t)columns * sizeof *group_of);
    for (int64_t i = 0; i < columns; i++) {
        group_of[i] =
            index == IN_ORDER ? (int32_t)(i / parts->codec.group_size) : (int32_t)(any_word() % (uint32_t)groups);
    }
    tensor_set(&parts->groups, GRAFT_DTYPE_I32, columns, 1, group_of);
}

static void set_zeros(struct coded_parts *parts, int zeros, int32_t offset) {
    const struct graft_codec *codec = &parts->codec;
    const int64_t groups = graft_codec_groups(codec), across = words_of(codec->rows, codec->bits);
    parts->codec.zero = zeros == NO_ZEROS ? 1 << (codec->bits - 1) : offset;
    if (zeros == NO_ZEROS) {
        return;
    }
    int32_t *words = any_words(groups * across);
    for (int64_t i = 0; zeros == EQUAL_ZEROS && i < groups * across; i++) {
        const uint32_t code = 5U & ((1U << codec->bits) - 1), first = (uint32_t)(i % across * 32);
        uint32_t word = 0;
        for (uint32_t bit = 0; bit < 32; bit++) {
            word |= (code >> (first + bit) % (uint32_t)codec->bits & 1) << bit;
        }
        words[i] = (int32_t)word;
    }
    tensor_set(&parts->zeros, GRAFT_DTYPE_I32, groups, across, words);
}

static void set_parts(struct coded_parts *parts, const struct size *size, int32_t layout, int32_t bits,
                      graft_dtype scales) {
    const int is_columns = layout == GRAFT_CODED_COLUMN_WORDS;
    const int64_t codes[2] = {is_columns ? words_of(size->columns, bits) : size->columns,
                              is_columns ? size->rows : size->rows / 8};
    *parts = (struct coded_parts){.codec = {.struct_size = sizeof parts->codec,
                                            .kind = GRAFT_CODE_UINT,
                                            .bits = bits,
                                            .layout = layout,
                                            .rows = size->rows,
                                            .columns = size->columns,
                                            .block_rows = 1,
                                            .group_size = size->group_size}};
    const int64_t groups = graft_codec_groups(&parts->codec);
    tensor_set(&parts->codes, GRAFT_DTYPE_I32, codes[0], codes[1], any_words(codes[0] * codes[1]));
    tensor_set(&parts->scales, scales, groups, size->rows, any_scales(scales, groups * size->rows));
}

/* Compares all rows, and some in the middle. */
static void check_rows(const struct coded_parts *parts, const struct graft_coded_weight *weight) {
    const int64_t rows = parts->codec.rows, columns = parts->codec.columns, first = rows / 3, n = rows - rows / 2;
    float *all = need((size_t)(rows * columns) * sizeof *all), *some = need((size_t)(n * columns) * sizeof *some);
    weight->codec.read_rows(&weight->weight, 0, rows, all);
    weight->codec.read_rows(&weight->weight, first, n, some);
    for (int64_t i = 0; i < rows * columns; i++) {
        if (all[i] != formula(parts, i / columns, i % columns)) {
            fail_msg("%lld x %lld, %d bits, layout %d: [%lld, %lld] is %g instead of %g", (long long)rows,
                     (long long)columns, (int)parts->codec.bits, (int)parts->codec.layout, (long long)(i / columns),
                     (long long)(i % columns), (double)all[i], (double)formula(parts, i / columns, i % columns));
        }
    }
    assert_memory_equal(some, all + first * columns, (size_t)(n * columns) * sizeof *all);
    free(all);
    free(some);
}

static void check(const struct size *size, int32_t layout, int32_t bits, int zeros, int index) {
    static const graft_dtype types[] = {GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32};
    struct coded_parts parts;
    set_parts(&parts, size, layout, bits, types[(bits + zeros + index) % 3]);
    set_zeros(&parts, zeros, index % 2);
    set_groups(&parts, index);
    struct graft_coded_weight *weight = coded_create(parts_codec(&parts));
    assert_int_equal(weight->weight.rows, size->rows);
    assert_int_equal(weight->weight.columns, size->columns);
    assert_int_equal(weight->weight.n_blocks, 0);
    assert_ptr_equal(graft_coded_weight_of(&weight->weight), weight);
    check_rows(&parts, weight);
    graft_coded_weight_free(weight);
    parts_free(&parts);
}

static void check_size(const struct size *size, int32_t layout, int32_t bits) {
    for (int zeros = NO_ZEROS; zeros <= EQUAL_ZEROS; zeros++) {
        for (int index = NO_INDEX; index <= ANY_ORDER; index++) {
            check(size, layout, bits, zeros, index);
        }
    }
}

static void test_columns(void **state) {
    static const struct size sizes[] = {{1, 1, 1},      {32, 32, 32},  {64, 64, 16},  {72, 96, 96},
                                        {200, 136, 40}, {65, 100, 24}, {130, 257, 64}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int32_t bits = 2; bits <= 8; bits++) {
            check_size(&sizes[i], GRAFT_CODED_COLUMN_WORDS, bits);
        }
    }
}

static void test_rows(void **state) {
    static const struct size sizes[] = {{8, 8, 8},      {8, 1, 1},     {64, 64, 32},   {72, 100, 24},
                                        {520, 52, 128}, {1096, 40, 8}, {1032, 33, 32}, {512, 9, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_size(&sizes[i], GRAFT_CODED_ROW_WORDS, 4);
    }
}

/* If all zero points are equal they become one number, which costs products no time. */
static void test_equal_zeros(void **state) {
    static const struct size size = {64, 64, 16};
    (void)state;
    for (int zeros = ANY_ZEROS; zeros <= EQUAL_ZEROS; zeros++) {
        struct coded_parts parts;
        set_parts(&parts, &size, GRAFT_CODED_COLUMN_WORDS, 4, GRAFT_DTYPE_F16);
        set_zeros(&parts, zeros, 1);
        struct graft_coded_weight *weight = coded_create(parts_codec(&parts));
        assert_int_equal(graft_coded_has_zeros(&weight->rows), zeros == ANY_ZEROS);
        assert_true(zeros == ANY_ZEROS || weight->rows.zero == 6);
        graft_coded_weight_free(weight);
        parts_free(&parts);
    }
}

/* --- Strips --- */

static float number_at(const struct coded_tensor *tensor, int64_t at) {
    const struct graft_row_block *block = &tensor->blocks[0];
    const uint16_t half = block->dtype == GRAFT_DTYPE_F32 ? 0 : ((const uint16_t *)block->data)[at];
    return block->dtype == GRAFT_DTYPE_F16    ? graft_f32_from_f16(half)
           : block->dtype == GRAFT_DTYPE_BF16 ? graft_f32_from_bf16(half)
                                              : ((const float *)block->data)[at];
}

/* The code at a place of a strip, counted from the lowest or from the highest strip on. */
static float strip_formula(const struct coded_parts *parts, int64_t row, int64_t column) {
    const struct graft_codec *codec = &parts->codec;
    const int32_t strips = codec->bits == 3 ? 10 : 8 / codec->bits;
    const int64_t groups = graft_codec_groups(codec), group = row * groups + column / codec->group_size;
    const int64_t most = (codec->rows * groups + strips - 1) / strips;
    const int64_t at = group % most * codec->group_size + column % codec->group_size;
    const int32_t strip = (int32_t)(group / most);
    const int32_t place = codec->layout == GRAFT_CODED_STRIPS ? strips - 1 - strip : strip;
    const void *numbers = parts->codes.blocks[0].data;
    const uint32_t number = codec->bits == 3 ? ((const uint32_t *)numbers)[at] : ((const uint8_t *)numbers)[at];
    const float zero = parts->zeros.blocks[0].data != NULL ? number_at(&parts->zeros, group) : (float)codec->zero;
    return number_at(&parts->scales, group) *
           ((float)(number >> place * codec->bits & ((1U << codec->bits) - 1)) - zero);
}

static void set_strips(struct coded_parts *parts, const struct size *size, int32_t layout, int32_t bits,
                       graft_dtype dtype, int has_zeros) {
    const int64_t groups = size->rows * (size->columns / size->group_size), strips = bits == 3 ? 10 : 8 / bits;
    const int64_t most = (groups + strips - 1) / strips, bytes = bits == 3 ? 4 : 1;
    *parts = (struct coded_parts){.codec = {.struct_size = sizeof parts->codec,
                                            .kind = GRAFT_CODE_UINT,
                                            .bits = bits,
                                            .layout = layout,
                                            .rows = size->rows,
                                            .columns = size->columns,
                                            .block_rows = 1,
                                            .zero = has_zeros ? 0 : 3,
                                            .group_size = size->group_size}};
    tensor_set(&parts->codes, bits == 3 ? GRAFT_DTYPE_I32 : GRAFT_DTYPE_U8, most, size->group_size,
               any_numbers(most * size->group_size * bytes));
    tensor_set(&parts->scales, dtype, groups, 1, any_scales(dtype, groups));
    if (has_zeros) {
        tensor_set(&parts->zeros, dtype, groups, 1, any_scales(dtype, groups));
    }
}

static void check_strips(const struct size *size, int32_t layout, int32_t bits, graft_dtype dtype, int has_zeros) {
    struct coded_parts parts;
    set_strips(&parts, size, layout, bits, dtype, has_zeros);
    struct graft_coded_weight *weight = coded_create(parts_codec(&parts));
    float *all = need((size_t)(size->rows * size->columns) * sizeof *all);
    weight->codec.read_rows(&weight->weight, 0, size->rows, all);
    for (int64_t i = 0; i < size->rows * size->columns; i++) {
        const float expected = strip_formula(&parts, i / size->columns, i % size->columns);
        if (all[i] != expected) {
            fail_msg("%lld x %lld, %d bits, layout %d: [%lld, %lld] is %g instead of %g", (long long)size->rows,
                     (long long)size->columns, (int)bits, (int)layout, (long long)(i / size->columns),
                     (long long)(i % size->columns), (double)all[i], (double)expected);
        }
    }
    free(all);
    graft_coded_weight_free(weight);
    parts_free(&parts);
}

/* Strips that end inside a row, that end early, or that hold a whole weight; rows that end inside a word. */
static void test_strips(void **state) {
    static const struct size sizes[] = {{1, 1, 1},     {32, 32, 32},   {64, 64, 16}, {72, 96, 96},  {3, 96, 32},
                                        {7, 100, 100}, {200, 144, 12}, {5, 33, 33},  {130, 256, 64}};
    static const graft_dtype types[] = {GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32};
    static const int32_t bits[] = {2, 3, 4, 8};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] * 4; i++) {
        for (int has_zeros = 0; has_zeros < 2; has_zeros++) {
            check_strips(&sizes[i / 4], GRAFT_CODED_STRIPS, bits[i % 4], types[i % 3], has_zeros);
            if (bits[i % 4] != 3) {
                check_strips(&sizes[i / 4], GRAFT_CODED_STRIPS_UPWARDS, bits[i % 4], types[(i + 1) % 3], has_zeros);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_equal_zeros), cmocka_unit_test(test_strips)};
    graft_threads_set_count(3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
