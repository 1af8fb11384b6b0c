/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of coded weights: compares each build with simple code for codes, scales and zero points, on odd sizes:
 * rows in several blocks, alternating rows of gate and up, ragged groups, groups of single inputs, a few tokens alone
 * and together, tokens that are apart in memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "any_words.h"
#include "coded_tables.h"
#include "rounded_inputs.h"
#include "transposed_at.h"

enum { MOST_BLOCKS = 2, MOST_TOKENS = 7, TABLE = 16 };

/* Floats after the results of a token, which no loop writes. */
static const float untouched = 1234.5F;

static void *any_bytes(int64_t n) {
    unsigned char *bytes = need((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)any_word();
    }
    return bytes;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t divided_up(int64_t n, int64_t by) {
    return (n + by - 1) / by;
}

/* A weight to multiply, and the arrays that it points to. */
struct trial {
    struct graft_coded rows;
    struct graft_row_block blocks[2][MOST_BLOCKS]; /* of codes and of scales */
    struct graft_weight weights[2];
    float table[TABLE];
    int64_t out;   /* rows that are multiplied */
    int32_t kind;  /* CODED_... */
    float *result; /* [out, columns], by the formula */
};

/* Splits `rows` rows in two that are apart in memory, if there are at least two. */
static void set_weight(struct trial *trial, int which, int64_t rows, int64_t row_bytes, graft_dtype dtype) {
    struct graft_weight *weight = &trial->weights[which];
    struct graft_row_block *blocks = trial->blocks[which];
    const int64_t first = rows > 1 ? rows - rows / 2 : rows;
    blocks[0] = (struct graft_row_block){sizeof blocks[0], dtype, any_bytes(first * row_bytes), first};
    blocks[1] =
        (struct graft_row_block){sizeof blocks[0], dtype, any_bytes((rows - first) * row_bytes + 1), rows - first};
    *weight = (struct graft_weight){.struct_size = sizeof *weight, .rows = rows, .blocks = blocks};
    weight->n_blocks = rows > 1 ? 2 : 1;
    weight->block_stride = sizeof blocks[0];
}

static int64_t scale_size(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 4 : dtype == GRAFT_DTYPE_U8 || dtype == GRAFT_DTYPE_F8_E4M3 ? 1 : 2;
}

/* Scales are 1.m * 2^-3 to 2^4, of a mantissa that all types have; powers have none, and F8_E4M3 the first digits. */
static void set_scales(struct graft_weight *scales, int64_t columns, graft_dtype dtype) {
    for (int32_t b = 0; b < scales->n_blocks; b++) {
        const struct graft_row_block *block = graft_weight_block(scales, b);
        for (int64_t i = 0; i < block->rows * columns; i++) {
            const uint32_t word = any_word(), exponent = word % 8, fraction = word >> 8 & 0x7f;
            const uint32_t bits = (124 + exponent) << 23 | fraction << 16;
            const uint16_t half =
                (uint16_t)(dtype == GRAFT_DTYPE_F16 ? (12 + exponent) << 10 | fraction << 3 : bits >> 16);
            char *to = (char *)(uintptr_t)block->data + i * scale_size(dtype);
            if (dtype == GRAFT_DTYPE_F32) {
                memcpy(to, &bits, sizeof bits);
            } else if (dtype == GRAFT_DTYPE_U8) {
                *to = (char)(124 + exponent);
            } else if (dtype == GRAFT_DTYPE_F8_E4M3) {
                *to = (char)((4 + exponent) << 3 | fraction >> 4);
            } else {
                memcpy(to, &half, sizeof half);
            }
        }
    }
}

static float float8(unsigned char code) {
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const float size =
        exponent > 0 ? ldexpf(1.0F + (float)fraction / 8.0F, exponent - 7) : ldexpf((float)fraction / 8.0F, -6);
    return (code & 0x7f) == 0x7f ? NAN : (code & 0x80) != 0 ? -size : size;
}

static float number_of(graft_dtype dtype, const void *data, int64_t at) {
    if (dtype == GRAFT_DTYPE_F32) {
        return ((const float *)data)[at];
    }
    const uint16_t half = ((const uint16_t *)data)[at];
    if (dtype == GRAFT_DTYPE_BF16) {
        return ldexpf(1.0F + (float)(half & 0x7f) / 128.0F, (half >> 7) - 127);
    }
    return ldexpf(1.0F + (float)(half & 0x3ff) / 1024.0F, (half >> 10) - 15);
}

static float scale_at(const struct graft_coded *rows, int64_t row, int64_t column) {
    const struct graft_row_block *block = graft_coded_block(rows->scales, &row);
    const void *data = block->data;
    const int64_t at = row * rows->groups + column;
    if (block->dtype == GRAFT_DTYPE_U8) {
        return ldexpf(1.0F, ((const unsigned char *)data)[at] - 127);
    }
    if (block->dtype == GRAFT_DTYPE_F8_E4M3) {
        const float scale = float8(((const unsigned char *)data)[at]);
        return rows->factor != 0.0F ? scale * rows->factor : scale / rows->divisor;
    }
    return number_of(block->dtype, data, at);
}

static float float4(int code) {
    static const float sizes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    return code >= 8 ? -sizes[code & 7] : sizes[code];
}

/* W[output, input]. */
static float formula(const struct trial *trial, int64_t output, int64_t input) {
    const struct graft_coded *rows = &trial->rows;
    const int64_t group = rows->group_of != NULL ? rows->group_of[input] : input / rows->group_size;
    const int64_t stored = rows->first + output * rows->step, slots = 32 / rows->bits;
    const float scale = scale_at(rows, stored / rows->block_rows, group);
    int64_t row = stored;
    const struct graft_row_block *block = graft_coded_block(rows->codes, &row);
    const unsigned char *codes = (const unsigned char *)block->data + row * rows->row_bytes;
    float zero = (float)rows->zero;
    if (rows->zero_numbers != NULL) {
        zero = number_of(rows->zero_dtype, rows->zero_numbers, stored * rows->groups + group);
    }
    if (rows->zeros != NULL) {
        const uint32_t word = (uint32_t)rows->zeros[stored / slots * rows->groups + group];
        zero += (float)(word >> (stored % slots * rows->bits) & ((1U << rows->bits) - 1));
    }
    switch (trial->kind) {
    case CODED_FLOAT8:
        return scale * float8(codes[input]);
    case CODED_INT8:
        return scale * ((float)(int8_t)codes[input] - zero);
    case CODED_UINT8:
        return scale * ((float)codes[input] - zero);
    case CODED_FLOAT4:
        return scale * float4(codes[input / 2] >> (input % 2 * 4) & 15);
    case CODED_TABLE4:
        return scale * rows->table[codes[input / 2] >> ((1 - input % 2) * 4) & 15];
    default:
        return scale * ((float)(codes[input / 2] >> (input % 2 * 4) & 15) - zero);
    }
}

static void check_widen(const struct trial *trial) {
    const struct graft_coded *rows = &trial->rows;
    float *exact = need((size_t)(trial->out * rows->columns) * sizeof *exact);
    uint16_t *rounded = need((size_t)(trial->out * rows->columns) * sizeof *rounded);
    rows->loops->widen(rows, 0, trial->out, GRAFT_DTYPE_F32, exact);
    rows->loops->widen(rows, 0, trial->out, GRAFT_DTYPE_BF16, rounded);
    for (int64_t i = 0; i < trial->out * rows->columns; i++) {
        const float expected = trial->result[i];
        const uint32_t wide = (uint32_t)rounded[i] << 16;
        float near;
        memcpy(&near, &wide, sizeof near);
        assert_true(isnan(expected) ? isnan(exact[i]) && isnan(near) : exact[i] == expected);
        assert_true(isnan(expected) || fabsf(near - expected) <= ldexpf(fabsf(expected), -8));
    }
    free(exact);
    free(rounded);
}

static void check_portion(const struct trial *trial, const struct graft_transposed_portion *portion) {
    trial->rows.loops->turn(&trial->rows, portion);
    for (int64_t r = 0; r < portion->rows; r++) {
        for (int64_t c = 0; c < portion->columns; c++) {
            const float exact = trial->result[(portion->row + r) * trial->rows.columns + portion->column + c];
            const float expected = portion->layout == GRAFT_TRANSPOSED_F32 ? exact : rounded(exact);
            const float found = transposed_at(portion, r, c);
            assert_true(isnan(exact) ? isnan(found) : found == expected);
        }
    }
}

/* Reads all columns, and some that begin and end within a group. */
static void check_turn(const struct trial *trial) {
    const struct graft_coded *rows = &trial->rows;
    struct graft_transposed_portion portion = {.struct_size = sizeof portion};
    portion.out = need((size_t)(trial->out * rows->columns) * sizeof(float));
    for (portion.layout = GRAFT_TRANSPOSED_F32; portion.layout <= GRAFT_TRANSPOSED_PAIRS; portion.layout++) {
        for (portion.width = 16; portion.width <= GRAFT_TRANSPOSED_ROWS; portion.width *= 2) {
            portion.row = portion.column = 0;
            portion.rows = trial->out;
            portion.columns = rows->columns;
            check_portion(trial, &portion);
            portion.row = portion.rows - GRAFT_TRANSPOSED_ROWS;
            portion.rows = GRAFT_TRANSPOSED_ROWS;
            portion.column = GRAFT_TRANSPOSED_COLUMNS;
            portion.columns -= 2 * GRAFT_TRANSPOSED_COLUMNS;
            check_portion(trial, &portion);
        }
    }
    free(portion.out);
}

/* Computes y of rows [first, first + n), with y_stride numbers from token to token and with prepared or plain
 * inputs. */
static void multiply(const struct trial *trial, const struct graft_coded_prepared *how, int64_t first, int64_t n,
                     const float *x, int64_t tokens, float *y) {
    const struct graft_coded *rows = &trial->rows;
    if (how == NULL) {
        rows->loops->multiply(rows, first, n, x, tokens, y);
        return;
    }
    const int64_t size = how->size(rows);
    char *prepared = aligned_alloc(64, (size_t)(tokens * size));
    assert_non_null(prepared);
    for (int64_t t = 0; t < tokens; t++) {
        how->prepare(rows, x + t * rows->x_stride, prepared + t * size);
    }
    how->multiply(rows, first, n, prepared, tokens, y);
    free(prepared);
}

/* The number of inputs in a block of few tokens: 128, or a line of codes if that does not divide groups. */
static int64_t block_of_few(const struct trial *trial) {
    const struct graft_coded *rows = &trial->rows;
    if (rows->loops->abreast > 0) {
        return block_of_many(rows->columns, rows->groups, rows->group_size);
    }
    if (trial->kind != CODED_FLOAT4 && rows->columns % 128 == 0 && rows->group_size % 128 == 0) {
        return 128;
    }
    return (strncmp(rows->loops->name, "avx2", 4) == 0 ? 256 : 512) / rows->bits;
}

/* inputs [columns]: the numbers that x is multiplied as: themselves, rounded to bf16 for codes of float8 or, for
 * integers, to integers times the step of their block. */
static void round_inputs(const struct trial *trial, const struct graft_coded_prepared *how, const float *x,
                         float *inputs) {
    const struct graft_coded *rows = &trial->rows;
    const int64_t n = rows->columns;
    if (how == NULL || trial->kind == CODED_TABLE4 || trial->kind == CODED_FLOAT8) {
        const int is_rounded =
            how != NULL && trial->kind == CODED_FLOAT8 && how->size(rows) < n * (int64_t)sizeof(float);
        for (int64_t i = 0; i < n; i++) {
            inputs[i] = is_rounded ? rounded(x[i]) : x[i];
        }
    } else if (how == rows->loops->prepared) {
        round_to_integers(x, n, block_of_few(trial), 16, inputs);
    } else {
        round_to_integers(x, n, block_of_many(n, rows->groups, rows->group_size), how == rows->loops->bytes ? 8 : 16,
                          inputs);
    }
}

/* Compares a single token with a sum in f64. Where x times a zero point may cancel, sizes are those of the terms; codes
 * and zeros have up to 8 bits, and as bf16 are larger by 128. */
static void check_sum(const struct trial *trial, int is_prepared, int64_t output, const float *inputs, float found) {
    const float *weights = trial->result + output * trial->rows.columns;
    double sum = 0.0, size = 0.0;
    for (int64_t i = 0; i < trial->rows.columns; i++) {
        const double term = (double)weights[i] * (double)inputs[i];
        sum += term;
        size += fabs(term);
    }
    assert_true(isnan(sum) ? isnan(found) : fabs(sum - (double)found) <= (is_prepared ? 4e-5 : 1e-5) * (size + 1.0));
}

/* Compares to the bit, except for the sign of NaN: a sum of NaNs of both signs has the sign of the operand that the
 * compiler put first. */
static int is_same(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1] || (isnan(a) && isnan(b));
}

/* No sum is finite if an input is NaN or infinite. */
static void check_not_finite(const struct trial *trial, const struct graft_coded_prepared *how, float *x, float *y) {
    const float first = x[0];
    for (int i = 0; i < 2; i++) {
        x[0] = i == 0 ? NAN : INFINITY;
        multiply(trial, how, 0, trial->out, x, 1, y);
        for (int64_t r = 0; r < trial->out; r++) {
            assert_false(isfinite(y[r]));
        }
    }
    x[0] = first;
}

/* Each token alone has the same bits as together with others. Memory between tokens is neither read nor written. */
static void check_multiply(const struct trial *trial, const struct graft_coded_prepared *how) {
    const struct graft_coded *rows = &trial->rows;
    const int64_t in = rows->columns, out = trial->out, last = MOST_TOKENS - 1;
    const int64_t n_x = last * rows->x_stride + in, n_y = last * rows->y_stride + out;
    float *x = need((size_t)n_x * sizeof *x), *y = need((size_t)n_y * sizeof *y);
    float *alone = need((size_t)out * sizeof *alone), *inputs = need((size_t)in * sizeof *inputs);
    for (int64_t i = 0; i < n_x; i++) {
        x[i] = i % rows->x_stride < in ? (float)(int32_t)any_word() / 2147483648.0F : NAN;
    }
    for (int64_t i = 0; i < n_y; i++) {
        y[i] = untouched;
    }
    check_not_finite(trial, how, x, alone);
    multiply(trial, how, 0, out, x, MOST_TOKENS, y);
    for (int64_t t = 0; t < MOST_TOKENS; t++) {
        const int64_t first = least(t, out - 1);
        multiply(trial, how, first, out - first, x + t * rows->x_stride, 1, alone + first);
        round_inputs(trial, how, x + t * rows->x_stride, inputs);
        for (int64_t r = first; r < out; r++) {
            check_sum(trial, how != NULL, r, inputs, alone[r]);
            assert_true(is_same(alone[r], y[t * rows->y_stride + r]));
        }
        for (int64_t i = out; i < rows->y_stride && t < last; i++) {
            assert_true(y[t * rows->y_stride + i] == untouched);
        }
    }
    free(x);
    free(y);
    free(alone);
    free(inputs);
}

/* The zero points of unsigned codes: one, codes in words, or any numbers. */
enum { ONE_ZERO = 0, ZERO_CODES = 1, ZERO_NUMBERS = 2 };

/* The ways in which a weight is split into blocks. */
struct cut {
    int64_t out, in, block_rows, group_size;
    int32_t zeros, is_ordered;
};

/* Removes most codes that are NaN, since otherwise every sum would be NaN. */
static void leave_few_nans(const struct trial *trial) {
    for (int b = 0; trial->kind == CODED_FLOAT8 && b < MOST_BLOCKS; b++) {
        const struct graft_row_block *block = &trial->blocks[0][b];
        unsigned char *codes = (unsigned char *)(uintptr_t)block->data;
        for (int64_t i = 0; i < block->rows * trial->rows.row_bytes; i++) {
            codes[i] ^= (codes[i] & 0x7f) == 0x7f && any_word() % 16 != 0;
        }
    }
}

/* The properties of the kind of codes. */
static void set_kind(struct trial *trial, int32_t kind) {
    struct graft_coded *rows = &trial->rows;
    trial->kind = kind;
    rows->bits = coded_bits(kind);
    rows->zero = kind == CODED_UINT4 ? 8 : kind == CODED_UINT8 ? 128 : 0;
    for (int i = 0; i < TABLE; i++) {
        trial->table[i] = (float)(int32_t)any_word() / 2147483648.0F;
    }
    rows->table = kind == CODED_TABLE4 ? trial->table : NULL;
}

/* Numbers like scales: from 2^-3 to 2^5, most of them not whole. */
static void set_zero_numbers(struct graft_coded *rows, int64_t stored, graft_dtype dtype) {
    void *numbers = any_bytes(stored * rows->groups * scale_size(dtype));
    const struct graft_row_block block = {sizeof block, dtype, numbers, stored};
    struct graft_weight all = {.struct_size = sizeof all, .n_blocks = 1, .block_stride = sizeof block};
    all.blocks = &block;
    set_scales(&all, rows->groups, dtype);
    rows->zero = 0;
    rows->zero_numbers = numbers;
    rows->zero_dtype = dtype;
}

/* Groups of single columns. */
static const int32_t *any_groups(int64_t columns, int64_t groups) {
    int32_t *group_of = need((size_t)columns * sizeof *group_of);
    for (int64_t i = 0; i < columns; i++) {
        group_of[i] = (int32_t)(any_word() % (uint32_t)groups);
    }
    return group_of;
}

/* Uses stored rows [first, first + step * out), of which every `step`th is a row. Between tokens lie `apart` numbers in
 * x and twice as many in y. */
static void set_up(struct trial *trial, const struct cut *cut, int32_t kind, graft_dtype scales, int64_t first,
                   int64_t step, int64_t apart) {
    struct graft_coded *rows = &trial->rows;
    const int64_t stored = first + (cut->out - 1) * step + 1;
    *trial = (struct trial){.out = cut->out};
    set_kind(trial, kind);
    rows->columns = cut->in;
    rows->first = first;
    rows->step = step;
    rows->x_stride = cut->in + apart;
    rows->y_stride = cut->out + 2 * apart;
    rows->row_bytes = divided_up(cut->in * rows->bits, 8);
    rows->block_rows = cut->block_rows;
    rows->group_size = cut->group_size;
    rows->groups = divided_up(cut->in, cut->group_size);
    rows->divisor = 1.7F;
    rows->factor = cut->out % 4 == 0 ? 0.3F : 0.0F;
    set_weight(trial, 0, stored, rows->row_bytes, GRAFT_DTYPE_U8);
    set_weight(trial, 1, divided_up(stored, cut->block_rows), rows->groups * scale_size(scales), scales);
    set_scales(&trial->weights[1], rows->groups, scales);
    leave_few_nans(trial);
    rows->codes = &trial->weights[0];
    rows->scales = &trial->weights[1];
    if (cut->zeros == ZERO_NUMBERS && (kind == CODED_UINT4 || kind == CODED_UINT8)) {
        set_zero_numbers(rows, stored, cut->out % 2 == 0 ? GRAFT_DTYPE_F32 : scales);
    } else if (cut->zeros == ZERO_CODES && (kind == CODED_UINT4 || kind == CODED_UINT8)) {
        rows->zero = (int32_t)(cut->out % 2); /* some formats store them less one */
        rows->zeros = any_bytes(divided_up(stored * rows->bits, 32) * rows->groups * 4);
    }
    if (cut->is_ordered) {
        rows->group_of = any_groups(cut->in, rows->groups);
    }
    trial->result = need((size_t)(cut->out * cut->in) * sizeof *trial->result);
    for (int64_t i = 0; i < cut->out * cut->in; i++) {
        trial->result[i] = formula(trial, i / cut->in, i % cut->in);
    }
}

static void tear_down(struct trial *trial) {
    for (int which = 0; which < 2; which++) {
        for (int b = 0; b < MOST_BLOCKS; b++) {
            free((void *)(uintptr_t)trial->blocks[which][b].data);
        }
    }
    free((void *)(uintptr_t)trial->rows.zeros);
    free((void *)(uintptr_t)trial->rows.zero_numbers);
    free((void *)(uintptr_t)trial->rows.group_of);
    free(trial->result);
}

enum { PREPARED_KINDS = 3 };

/* Counts the kinds of products with prepared inputs. */
static void check_build(const struct trial *trial, int n_prepared[PREPARED_KINDS]) {
    const struct graft_coded *rows = &trial->rows;
    const struct graft_coded_prepared *const kinds[PREPARED_KINDS] = {rows->loops->prepared, rows->loops->many,
                                                                      rows->loops->bytes};
    check_widen(trial);
    if (trial->out % GRAFT_TRANSPOSED_ROWS == 0) {
        check_turn(trial);
    }
    check_multiply(trial, NULL);
    for (int k = 0; k < PREPARED_KINDS; k++) {
        if (kinds[k]->size(rows) > 0) {
            assert_true(kinds[k] != rows->loops->many || rows->zero_numbers == NULL); /* it would round them */
            check_multiply(trial, kinds[k]);
            n_prepared[k]++;
        }
    }
}

/* Whether a weight may lie abreast. */
static int may_lie_abreast(const struct trial *trial) {
    const struct graft_coded *rows = &trial->rows;
    return trial->kind == CODED_UINT4 && rows->step == 1 && rows->block_rows == 1 && rows->group_of == NULL &&
           rows->zero_numbers == NULL && rows->columns % 8 == 0 && (rows->groups == 1 || rows->group_size % 8 == 0);
}

/* The same weight, with as many rows abreast as there are lanes, and numbers of no meaning after the last one. */
static void lay_abreast(const struct trial *trial, int64_t lanes, struct trial *abreast) {
    const struct graft_coded *from = &trial->rows;
    const int64_t rows = from->first + trial->out, stored = divided_up(rows, lanes) * lanes + lanes;
    const int64_t words = from->columns / 8;
    const graft_dtype dtype = trial->blocks[1][0].dtype;
    const int64_t size = scale_size(dtype);
    *abreast = *trial;
    abreast->rows.row_bytes = words * 4;
    abreast->rows.codes = &abreast->weights[0];
    abreast->rows.scales = &abreast->weights[1];
    abreast->rows.zeros = NULL;
    uint32_t *codes = any_bytes(stored * words * 4);
    char *scales = any_bytes(stored * from->groups * size);
    unsigned char *zeros = any_bytes(stored * from->groups);
    for (int64_t row = 0; row < rows; row++) {
        int64_t at = row, scale = row;
        const struct graft_row_block *block = graft_coded_block(from->codes, &at);
        const struct graft_row_block *of = graft_coded_block(from->scales, &scale);
        for (int64_t w = 0; w < words; w++) {
            memcpy(&codes[(row / lanes * words + w) * lanes + row % lanes],
                   (const char *)block->data + at * from->row_bytes + w * 4, 4);
        }
        for (int64_t g = 0; g < from->groups; g++) {
            memcpy(scales + (g * stored + row) * size, (const char *)of->data + (scale * from->groups + g) * size,
                   (size_t)size);
            const int32_t word = from->zeros != NULL ? from->zeros[row / 8 * from->groups + g] : 0;
            zeros[g * stored + row] = (unsigned char)((word >> (row % 8 * 4) & 15) + from->zero);
        }
    }
    abreast->rows.zero_bytes = from->zeros != NULL ? zeros : NULL;
    for (int which = 0; which < 2; which++) {
        abreast->blocks[which][0] =
            (struct graft_row_block){sizeof abreast->blocks[which][0], which == 0 ? GRAFT_DTYPE_I32 : dtype,
                                     which == 0 ? (void *)codes : scales, which == 0 ? stored : from->groups};
        abreast->weights[which].blocks = abreast->blocks[which];
        abreast->weights[which].n_blocks = 1;
        abreast->weights[which].rows = abreast->blocks[which][0].rows;
    }
    if (from->zeros == NULL) {
        free(zeros);
    }
}

static const struct cut cuts[] = {
    {1, 1, 1, 1, 0, 0},      {3, 16, 1, 16, 1, 0},     {5, 130, 1, 130, 0, 0},  {9, 96, 1, 32, 1, 0},
    {17, 72, 1, 24, 0, 0},   {7, 100, 4, 48, 0, 0},    {11, 70, 3, 40, 0, 0},   {6, 64, 6, 64, 0, 0},
    {13, 128, 1, 32, 1, 1},  {10, 50, 1, 16, 0, 1},    {20, 257, 8, 128, 0, 0}, {9, 256, 1, 32, 1, 0},
    {6, 384, 1, 32, 0, 0},   {7, 256, 1, 64, 1, 0},    {5, 384, 1, 256, 1, 0},  {11, 448, 4, 128, 0, 0},
    {7, 256, 1, 256, 0, 0},  {64, 88, 1, 24, 1, 0},    {128, 96, 1, 32, 0, 0},  {64, 168, 64, 168, 0, 0},
    {128, 72, 48, 40, 1, 0}, {3, 8960, 1, 8960, 1, 0}, {5, 8832, 1, 384, 0, 0}, {5, 8832, 1, 384, 1, 0},
    {4, 2304, 1, 32, 1, 0},  {70, 1152, 1, 96, 1, 0},  {3, 4224, 1, 384, 1, 0}, {5, 416, 1, 32, 1, 0},
    {4, 2336, 1, 32, 0, 0},  {7, 192, 1, 64, 1, 0},    {3, 288, 1, 128, 1, 0},  {4, 2880, 1, 32, 0, 0},
    {6, 416, 1, 416, 1, 0},  {4, 2336, 1, 16, 0, 0},   {64, 160, 1, 16, 0, 0},  {70, 1152, 1, 16, 0, 0},
    {5, 256, 1, 512, 1, 0},  {64, 128, 1, 384, 0, 0},  {6, 256, 1, 64, 1, 1},   {5, 640, 1, 256, 0, 0},
    {3, 16, 1, 16, 2, 0},    {9, 256, 1, 32, 2, 0},    {7, 256, 1, 64, 2, 0},   {5, 384, 1, 256, 2, 0},
    {6, 192, 1, 64, 2, 1},   {64, 88, 1, 24, 2, 0},    {128, 96, 1, 32, 2, 0},  {70, 1152, 1, 96, 2, 0},
    {4, 2304, 1, 32, 2, 0},  {5, 416, 1, 32, 2, 0},    {3, 8832, 1, 384, 2, 0}, {6, 416, 1, 416, 2, 0},
};

static void check_abreast(const struct trial *trial, int32_t build, int n_prepared[PREPARED_KINDS]) {
    const struct graft_coded_loops *loops = graft_coded_uint4_abreast[build];
    struct trial abreast;
    lay_abreast(trial, loops->abreast, &abreast);
    abreast.rows.loops = loops;
    check_build(&abreast, n_prepared);
    for (int which = 0; which < 2; which++) {
        free((void *)(uintptr_t)abreast.blocks[which][0].data);
    }
    free((void *)(uintptr_t)abreast.rows.zero_bytes);
}

static void check_kind(int32_t kind, const graft_dtype types[3], int n_prepared[PREPARED_KINDS]) {
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0] * 3; i++) {
        struct trial trial;
        const int64_t step = 1 + (int64_t)(i / 3 + i) % 2, first = step == 1 ? (int64_t)(i % 5) / 4 : (int64_t)i % 3;
        set_up(&trial, &cuts[i / 3], kind, types[i % 3], first, step, (int64_t)i % 4);
        for (int32_t build = 0; build < GRAFT_ISA_BUILDS; build++) {
            if (graft_isa_runs(build)) {
                trial.rows.loops = coded_tables(kind)[build];
                check_build(&trial, n_prepared);
            }
            if (graft_isa_runs(build) && may_lie_abreast(&trial)) {
                check_abreast(&trial, build, n_prepared);
            }
        }
        tear_down(&trial);
    }
}

static void test_loops(void **state) {
    static const graft_dtype types[][3] = {
        [CODED_UINT4] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16},
        [CODED_UINT8] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16},
        [CODED_INT8] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16},
        [CODED_FLOAT8] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_U8, GRAFT_DTYPE_BF16},
        [CODED_FLOAT4] = {GRAFT_DTYPE_U8, GRAFT_DTYPE_F16, GRAFT_DTYPE_F8_E4M3},
        [CODED_TABLE4] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16},
    };
    int n_prepared[PREPARED_KINDS] = {0};
    (void)state;
    for (int32_t kind = 0; kind < CODED_KINDS; kind++) {
        check_kind(kind, types[kind], n_prepared);
    }
    for (int k = 0; k < PREPARED_KINDS; k++) {
        assert_true(n_prepared[k] > 0 || graft_isa_runnable() < 2);
    }
}

/* Which is below what f32 has as exponents. */
static void test_smallest_power(void **state) {
    static const struct cut cut = {GRAFT_TRANSPOSED_ROWS, 640, 1, 32, 0, 0};
    struct trial trial;
    (void)state;
    set_up(&trial, &cut, CODED_FLOAT4, GRAFT_DTYPE_U8, 0, 1, 0);
    const int64_t n = cut.out * cut.in;
    float *exact = need((size_t)n * sizeof *exact);
    const struct graft_transposed_portion portion = {sizeof portion, GRAFT_TRANSPOSED_F32, 0, cut.out, 0, cut.in, 16,
                                                     exact};
    for (int b = 0; b < MOST_BLOCKS; b++) {
        const struct graft_row_block *block = &trial.blocks[1][b];
        memset((void *)(uintptr_t)block->data, 0, (size_t)(block->rows * trial.rows.groups));
    }
    for (int64_t i = 0; i < n; i++) {
        trial.result[i] = formula(&trial, i / cut.in, i % cut.in);
    }
    for (int32_t build = 0; build < GRAFT_ISA_BUILDS; build++) {
        if (graft_isa_runs(build)) {
            trial.rows.loops = graft_coded_float4[build];
            trial.rows.loops->widen(&trial.rows, 0, cut.out, GRAFT_DTYPE_F32, exact);
            assert_memory_equal(exact, trial.result, (size_t)n * sizeof *exact);
            check_portion(&trial, &portion);
        }
    }
    free(exact);
    tear_down(&trial);
}

/* Groups of 16 are multiplied as integers wherever groups of 32 are: for few tokens by all instruction sets with more
 * than words. */
static void test_groups_of_float4(void **state) {
    int64_t many[GRAFT_ISA_BUILDS] = {0};
    (void)state;
    for (int64_t size = 32; size >= 16; size -= 16) {
        const struct cut cut = {1, 96, 1, size, 0, 0};
        struct trial trial;
        set_up(&trial, &cut, CODED_FLOAT4, GRAFT_DTYPE_F8_E4M3, 0, 1, 0);
        for (int32_t build = 1; build < GRAFT_ISA_BUILDS; build++) {
            const struct graft_coded_loops *loops = graft_coded_float4[build];
            if (graft_isa_runs(build)) {
                assert_true(loops->prepared->size(&trial.rows) > 0);
                assert_true(loops->many->size(&trial.rows) > 0 || many[build] == 0);
                many[build] = loops->many->size(&trial.rows);
            }
        }
        tear_down(&trial);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops), cmocka_unit_test(test_smallest_power),
                                       cmocka_unit_test(test_groups_of_float4)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
